import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, createServer, type InlineConfig } from 'vite';
import { isPageCurrent, markPage, pageFolder } from '../../../server/surfaces/docs/demo-page.ts';

/*
 * Builds the demo page into dist/, which git does not keep. `--if-changed` builds nothing where it is that of its source;
 * `--serve` serves it while it is changed, from the service on port 3000.
 */

const root = import.meta.dirname;

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
    ...config(pageFolder),
    base: '/demo/',
    logLevel: 'info',
    server: { proxy: { '^/(?!demo/)': service } },
  });
  await server.listen();
  server.printUrls();
} else if (!process.argv.includes('--if-changed') || !isPageCurrent()) {
  // Beside the old one, which is whole until this one is.
  const made = join(root, `dist-${process.pid}`);
  try {
    await build(config(made));
    markPage(made);
    rmSync(pageFolder, { recursive: true, force: true });
    renameSync(made, pageFolder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
