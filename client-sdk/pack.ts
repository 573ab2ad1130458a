import { chmodSync, cpSync, globSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { create } from 'tar';
import { build } from 'tsdown';
import { clientPackage, tarballName } from '../server/surfaces/docs/client-package.ts';

/*
 * Packs the client into packed/, which git does not keep: what `npm pack` packs, always the same bytes for the same source.
 * `--if-changed` packs nothing where it is that of its source.
 */

const root = import.meta.dirname;

async function pack(folder: string): Promise<void> {
  const cwd = join(folder, 'package');
  await build({ cwd: root, outDir: join(cwd, 'dist'), logLevel: 'error' });
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  for (const name of ['package.json', 'README.md', ...files])
    if (name !== 'dist') cpSync(join(root, name), join(cwd, name), { recursive: true });
  const packed = globSync('**/*.*', { cwd }).toSorted();
  // Without modes, owners and times of the machine that builds it, which would change the bytes.
  for (const name of packed) chmodSync(join(cwd, name), 0o644);
  const options = { gzip: { level: 9 }, portable: true, noMtime: true, prefix: 'package', cwd };
  await create({ ...options, file: join(folder, tarballName) }, packed);
  rmSync(cwd, { recursive: true });
}

if (!process.argv.includes('--if-changed') || !clientPackage.isCurrent()) {
  // Beside the old one, which is whole until this one is.
  const made = `${clientPackage.folder}-${process.pid}`;
  try {
    await pack(made);
    clientPackage.mark(made);
    rmSync(clientPackage.folder, { recursive: true, force: true });
    renameSync(made, clientPackage.folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
