import { defineConfig } from 'tsdown';

/** One module and one file of types, for browsers and Node alike; names and comments stay, for whoever debugs. */
export default defineConfig({
  entry: 'src/index.ts',
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  dts: { oxc: true },
  fixedExtension: false,
  hash: false,
  report: false,
  logLevel: 'warn',
});
