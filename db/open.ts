import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { Kysely, PostgresDialect, sql, type KyselyPlugin } from 'kysely';
import pg from 'pg';
import { createLocalBus, createServerBus, type Bus } from './bus.ts';
import { columnTypes } from './column-types.ts';
import { lockFolder } from './folder-lock.ts';
import { createStatementNames, withNamedStatements, type NameStatement } from './named-statements.ts';
import { openReads, type Reads, type ReadsOptions } from './reads.ts';
import type { Schema } from './schema.ts';
import { beginLazily, type Db, type LazyTransaction } from './transaction.ts';

export type { Db } from './transaction.ts';

/** One database, embedded or a server's: the program that uses it cannot tell which. */
export type Database = {
  readonly kind: 'embedded' | 'server';
  /** Each statement for itself, on whichever connection is free. */
  readonly db: Db;
  /** For single statements that only read and are short as a rule: see {@link openReads}. */
  readonly reads: Db;
  /** Reaches every process on this database. */
  readonly bus: Bus;
  /** For one mutation: see {@link beginLazily}. */
  begin(onOpen?: (db: Db) => Promise<void>): LazyTransaction;
  /** Resolves when the database answers, rejects when it does not. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

export type OpenOptions = {
  /** Where the embedded database lives; left out, it lives in memory. */
  folder?: string;
  /** Starts the embedded database from a dump of a data folder. */
  dump?: Blob;
  /** Looks at every statement before it runs. */
  plugins?: KyselyPlugin[];
};

export const embeddedExtensions = { pg_trgm, btree_gin };

/** PostgreSQL's own cache holds 128 MB from the first moment on; behind it is the system's cache of files anyway. */
const embeddedStartParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB'];

/** The longest that a caller waits for a free connection before the service says that it is overloaded. */
const connectTimeoutMs = 5_000;
const statementTimeoutMs = 30_000;

export type ServerOptions = {
  plugins?: KyselyPlugin[];
  connectionsMax?: number;
  /** Connections for pipelined reads, beside the pool; 0 where a pooler hands out the server's connections. */
  readLanes?: number;
  onWrite?: ReadsOptions['onWrite'];
};

/** Opens the PostgreSQL server at `url`. */
export function openServer(url: string, options: ServerOptions = {}): Database {
  const connection: pg.ClientConfig = {
    connectionString: url,
    types: columnTypes,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'work-management-service',
    // Compiling a plan costs more than all but the longest of these statements take.
    options: '-c TimeZone=UTC -c jit=off',
  };
  const openPool = (max: number): pg.Pool =>
    new pg.Pool({
      ...connection,
      // The statements of a transaction go out without waiting for each other's answers.
      pipeline: true,
      max,
      idleTimeoutMillis: 30_000,
      statement_timeout: statementTimeoutMs,
      // The client's own limit, for a server that has gone silent.
      query_timeout: statementTimeoutMs + 5_000,
      lock_timeout: 10_000,
      idle_in_transaction_session_timeout: 60_000,
    });
  const { connectionsMax = 10, readLanes: lanes = 2 } = options;
  const bus = createServerBus({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    query_timeout: connectTimeoutMs,
    application_name: 'work-management-service events',
  });
  const onWrite = options.onWrite ?? (() => {});
  const slowPool = openPool(Math.ceil(connectionsMax / 2));
  const reads = { connection, lanes, onWrite, slowPool };
  return wrap('server', openPool(connectionsMax), bus, {
    plugins: options.plugins,
    reads: lanes === 0 ? undefined : reads,
  });
}

/**
 * Opens the embedded database, for this process alone: PGlite has no lock of its own,
 * and two processes on one folder lose data silently.
 */
export async function openEmbedded(options: OpenOptions = {}): Promise<Database> {
  const lock = options.folder === undefined ? undefined : lockFolder(options.folder);
  try {
    const pglite = await PGlite.create({
      ...(options.folder === undefined ? {} : { dataDir: join(options.folder, 'database') }),
      ...(options.dump === undefined ? {} : { loadDataDir: options.dump }),
      extensions: embeddedExtensions,
      startParams: embeddedStartParams,
    });
    await pglite.exec("set timezone = 'UTC'");
    return wrapEmbedded(pglite, options.plugins, async () => {
      await pglite.close();
      lock?.release();
    });
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** An open PGlite as a Database; closing that runs `afterwards`, which may close the PGlite. */
export function wrapEmbedded(pglite: PGlite, plugins?: KyselyPlugin[], afterwards?: () => Promise<void>): Database {
  const pool = new pg.Pool(
    Object.assign(createPgConfig(pglite), {
      types: columnTypes,
      pipeline: true,
      // PGlite is one session: a second client would share its transaction.
      max: 1,
      idleTimeoutMillis: 0,
      // A statement outside a transaction that is open would wait for ever.
      connectionTimeoutMillis: 30_000,
    }),
  );
  return wrap('embedded', pool, createLocalBus(), { plugins, afterwards });
}

type WrapOptions = {
  plugins?: KyselyPlugin[] | undefined;
  reads?: (Omit<ReadsOptions, 'nameOf' | 'slow'> & { slowPool: pg.Pool }) | undefined;
  afterwards?: (() => Promise<void>) | undefined;
};

function wrap(
  kind: Database['kind'],
  pool: pg.Pool,
  bus: Bus,
  { plugins = [], reads: readsOptions, afterwards }: WrapOptions,
): Database {
  const nameOf = createStatementNames();
  const dialect = dialectOn(pool, nameOf);
  const driver = dialect.createDriver();
  const db = new Kysely<Schema>({ dialect, plugins });
  const openSlow = (slowPool: pg.Pool): Db => new Kysely<Schema>({ dialect: dialectOn(slowPool, nameOf) });
  const reads: Reads | undefined =
    readsOptions && openReads(db, dialect, { ...readsOptions, slow: openSlow(readsOptions.slowPool), nameOf });
  return {
    kind,
    db,
    reads: reads?.db ?? db,
    bus,
    begin: (onOpen) => beginLazily(db, { dialect, driver }, onOpen),
    ping: async () => void (await sql`select 1`.execute(db)),
    close: async () => {
      await bus.close();
      await reads?.close();
      await db.destroy();
      await afterwards?.();
    },
  };
}

function dialectOn(pool: pg.Pool, nameOf: NameStatement): PostgresDialect {
  // A connection that breaks, idle or in use, fails its statement and is replaced at the next use;
  // without listeners its error would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  return new PostgresDialect({ pool: withNamedStatements(pool, nameOf) });
}
