import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, createServer, type InlineConfig } from 'vite';

/*
 * Builds the demo page into dist/, which is committed: whoever starts the service has the page without a build.
 * `--check` builds it elsewhere and fails where dist/ is another one; `--serve` serves it while it is changed, from
 * the service on port 3000.
 */

const root = import.meta.dirname;
const dist = join(root, 'dist');

const config = (outDir: string): InlineConfig => ({
  root,
  configFile: false,
  logLevel: 'warn',
  // Relative, so that the page works behind any prefix.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir,
    emptyOutDir: true,
    target: ['chrome123', 'firefox125', 'safari17.5'],
    modulePreload: false,
    // Small files as data: URLs would need a looser policy.
    assetsInlineLimit: 0,
  },
});

if (process.argv.includes('--serve')) {
  const service = { target: 'http://127.0.0.1:3000', ws: true };
  const server = await createServer({
    ...config(dist),
    base: '/demo/',
    logLevel: 'info',
    server: { proxy: { '^/(?!demo/)': service } },
  });
  await server.listen();
  server.printUrls();
} else if (process.argv.includes('--check')) {
  const temp = await mkdtemp(join(tmpdir(), 'wms-demo-page-'));
  try {
    await build(config(temp));
    const differing = findDifferences(temp, dist);
    if (differing.length > 0) {
      process.stderr.write(
        `client-sdk/examples/web/dist is not what its source makes (${differing.join(', ')}): ` +
          'run `npm run build:demo` and commit what it writes.\n',
      );
      process.exitCode = 1;
    }
  } finally {
    rmSync(temp, { recursive: true });
  }
} else {
  await build(config(dist));
}

/** The files that only one of two folders has, or that differ. */
function findDifferences(made: string, kept: string): string[] {
  const filesOf = (folder: string): string[] =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'))
      : [];
  const names = new Set([...filesOf(made), ...filesOf(kept)]);
  const textOf = (folder: string, name: string): string | undefined =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'latin1') : undefined;
  return [...names].filter((name) => textOf(made, name) !== textOf(kept, name));
}
