import { defineConfig } from 'tsdown';

export default defineConfig([
  // One module and its types, for `import` and for `require`, for browsers and Node alike. Names and comments stay, for debugging.
  {
    entry: 'src/index.ts',
    format: ['esm', 'cjs'],
    platform: 'neutral',
    target: 'es2022',
    dts: { oxc: true },
    fixedExtension: false,
    hash: false,
    report: false,
    logLevel: 'warn',
  },
  // The command, for Node: it loads the module above by the name of the package, and its own parts when they are called.
  {
    entry: { wms: 'command/main.ts' },
    format: 'esm',
    platform: 'node',
    target: 'node20',
    deps: { neverBundle: ['work-management-client'] },
    outputOptions: { chunkFileNames: 'command/[name].js' },
    dts: false,
    clean: false,
    fixedExtension: false,
    hash: false,
    report: false,
    logLevel: 'warn',
  },
]);
