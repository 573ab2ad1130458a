/*
 * Run by npm when all packages are there; nothing is fetched. npm before 11 drops the Node of another platform together with
 * `.bin/node`, which is that of this platform: here it is put back. Where the packages for development are, the demo page and
 * the package of the client are built; without them the service still runs, so a failure is reported and does not fail the
 * installation.
 */
const { spawnSync } = require('node:child_process');
const { existsSync, symlinkSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const bins = join(root, 'node_modules/.bin');
const own = `../node-${process.platform}-${process.arch}/bin/node`;
if (existsSync(join(bins, own)) && !existsSync(join(bins, 'node'))) symlinkSync(own, join(bins, 'node'));

const builds = [
  { what: 'demo page', builder: 'vite', script: 'client-sdk/examples/web/vite.ts', again: 'build:demo' },
  { what: 'package of the client', builder: 'tsdown', script: 'client-sdk/pack.ts', again: 'pack:sdk' },
];
const node = existsSync(join(bins, 'node')) ? join(bins, 'node') : process.execPath;
for (const { what, builder, script, again } of builds) {
  if (!existsSync(join(root, `node_modules/${builder}/package.json`))) continue;
  const parameters = [join(root, script), '--if-changed'];
  const { status } = spawnSync(node, parameters, { cwd: root, stdio: 'inherit', timeout: 60_000 });
  if (status !== 0) process.stderr.write(`The ${what} was not built: \`npm run ${again}\` shows why.\n`);
}
