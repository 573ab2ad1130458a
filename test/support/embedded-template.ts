import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { migrate } from '../../db/migrate.ts';
import { embeddedExtensions, openEmbedded } from '../../db/open-embedded.ts';
import { secureTables } from '../../db/row-security.ts';

export type EmbeddedTemplate = {
  /** A database without a table, in memory. */
  emptyDumpFile: string;
  /** For databases in memory. */
  dumpFile: string;
  /** The data folder of a service that was started once, for processes. */
  dataFolder: string;
};

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, 'node_modules/.cache/database-template');

/** Makes a migrated database, or takes that of an earlier run: it takes six seconds, and depends on `db/` and PGlite alone. */
export async function makeEmbeddedTemplate(): Promise<EmbeddedTemplate> {
  const folder = join(cache, await versionOfSources());
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const making = await mkdtemp(join(cache, 'making-'));
    await make(placesIn(making));
    // Two runs may make it at once: the first to be done has it.
    await rename(making, folder).catch(() => rm(making, { recursive: true }));
    await removeOld();
  }
  return placesIn(folder);
}

const placesIn = (folder: string): EmbeddedTemplate => ({
  emptyDumpFile: join(folder, 'empty.tar'),
  dumpFile: join(folder, 'dump.tar'),
  dataFolder: join(folder, 'data'),
});

/** Another run may still read one of this day, made of other sources. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(cache)) {
    const { mtimeMs } = await stat(join(cache, name));
    if (mtimeMs < Date.now() - 24 * 3_600_000) await rm(join(cache, name), { recursive: true });
  }
}

/** A checksum of all that decides what the template holds. */
async function versionOfSources(): Promise<string> {
  const entries = await readdir(join(root, 'db'), { recursive: true });
  const sources = entries.filter((name) => name.endsWith('.ts')).map((name) => join('db', name));
  const files = [...sources, 'test/support/embedded-template.ts', 'node_modules/@electric-sql/pglite/package.json'];
  const hash = createHash('sha256');
  for (const file of files.toSorted()) hash.update(`${file}\0`).update(await readFile(join(root, file)));
  return hash.digest('hex').slice(0, 20);
}

async function make({ emptyDumpFile, dumpFile, dataFolder }: EmbeddedTemplate): Promise<void> {
  const database = await openEmbedded({ folder: dataFolder });
  await migrate(database.owner.db);
  await secureTables(database.owner.db);
  await database.close();
  const copy = `${dumpFile}.database`;
  await cp(join(dataFolder, 'database'), copy, { recursive: true });
  await dump(await PGlite.create({ dataDir: copy, extensions: embeddedExtensions }), dumpFile);
  await rm(copy, { recursive: true });
  await dump(await PGlite.create({ extensions: embeddedExtensions }), emptyDumpFile);
}

async function dump(pglite: PGlite, file: string): Promise<void> {
  // PostgreSQL's own template databases are two thirds of it and serve no test.
  for (const name of ['template0', 'template1']) {
    await pglite.exec(`alter database ${name} is_template false`);
    await pglite.exec(`drop database ${name}`);
  }
  const dumped = await pglite.dumpDataDir('none');
  await pglite.close();
  await writeFile(file, Buffer.from(await dumped.arrayBuffer()));
}
