/*
 * Run by npm when all packages are there; nothing is fetched. npm before 11 drops the Node of another platform together with
 * `.bin/node`, which is that of this platform: here it is put back. Where the packages for development are, the demo page is
 * built; without it the service still runs, so a failure is reported and does not fail the installation.
 */
const { spawnSync } = require('node:child_process');
const { existsSync, symlinkSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const bins = join(root, 'node_modules/.bin');
const own = `../node-${process.platform}-${process.arch}/bin/node`;
if (existsSync(join(bins, own)) && !existsSync(join(bins, 'node'))) symlinkSync(own, join(bins, 'node'));

if (existsSync(join(root, 'node_modules/vite/package.json'))) {
  const node = existsSync(join(bins, 'node')) ? join(bins, 'node') : process.execPath;
  const script = join(root, 'client-sdk/examples/web/vite.ts');
  const { status } = spawnSync(node, [script, '--if-changed'], { cwd: root, stdio: 'inherit', timeout: 60_000 });
  if (status !== 0) process.stderr.write('The demo page was not built: `npm run build:demo` shows why.\n');
}
