/*
 * Run by npm when all packages are there. npm before 11 drops the Node of another platform together with `.bin/node`, which
 * is that of this platform: here it is put back. Nothing is fetched.
 */
const { existsSync, symlinkSync } = require('node:fs');
const { join } = require('node:path');

const bins = join(__dirname, '../node_modules/.bin');
const own = `../node-${process.platform}-${process.arch}/bin/node`;
if (existsSync(join(bins, own)) && !existsSync(join(bins, 'node'))) symlinkSync(own, join(bins, 'node'));
