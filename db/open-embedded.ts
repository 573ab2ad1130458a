import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import pg from 'pg';
import { createLocalBus } from './bus.ts';
import { columnTypes } from './column-types.ts';
import { DamagedDatabase, holdFolder, type HeldFolder } from './data-folder.ts';
import { createDatabase, type Database } from './database.ts';
import { EmbeddedStream } from './embedded-stream.ts';

export type OpenOptions = {
  /** The folder of the embedded database, as a path or already locked; in memory if omitted. */
  folder?: string | HeldFolder;
  /** Starts the embedded database from a dump of a data folder. */
  dump?: Blob;
  rowSecurity?: boolean;
};

export const embeddedExtensions = { pg_trgm, btree_gin };

/** PostgreSQL's default cache takes 128 MB at once; the system's file cache serves the same purpose. */
const embeddedStartParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB', '-c', 'timezone=UTC'];

/**
 * Opens the embedded database for this process alone: PGlite has no lock of its own, and two processes on one folder
 * lose data silently.
 */
export async function openEmbedded({ folder, dump, rowSecurity }: OpenOptions = {}): Promise<Database> {
  const held = typeof folder === 'string' ? holdFolder(folder) : folder;
  try {
    held?.opening();
    const pglite = await openPGlite(held?.path, dump);
    held?.opened();
    return wrapEmbedded(pglite, rowSecurity, async () => {
      await pglite.close();
      held?.closed();
      held?.release();
    });
  } catch (error) {
    held?.release();
    throw error;
  }
}

/** Opens PostgreSQL in this process, on a locked folder or in memory; {@link wrapEmbedded} makes a Database of it. */
export async function openPGlite(folder: string | undefined, dump: Blob | undefined): Promise<PGlite> {
  try {
    return await PGlite.create({
      dataDir: folder && join(folder, 'database'),
      loadDataDir: dump,
      extensions: embeddedExtensions,
      startParams: embeddedStartParams,
    });
  } catch (error) {
    if (folder === undefined) throw error;
    // PGlite may throw something other than an error, without its cause.
    const reason = error instanceof Error ? error.message.split('\n', 1)[0]! : 'PostgreSQL gave up';
    throw new DamagedDatabase(folder, `it does not open (${reason})`, { cause: error });
  }
}

/** Wraps an open PGlite as a Database; closing that runs `afterwards`, which may close the PGlite. */
export function wrapEmbedded(pglite: PGlite, rowSecurity?: boolean, afterwards?: () => Promise<void>): Database {
  const pool = new pg.Pool({
    stream: () => new EmbeddedStream(pglite),
    user: 'postgres',
    database: 'postgres',
    // The environment may ask for it, for servers.
    ssl: false,
    types: columnTypes,
    pipeline: true,
    // PGlite is one session: a second client would share its transaction.
    max: 1,
    idleTimeoutMillis: 0,
    // A statement outside a transaction that is open would wait for ever.
    connectionTimeoutMillis: 30_000,
  });
  return createDatabase('embedded', pool, createLocalBus(), { rowSecurity, afterwards });
}
