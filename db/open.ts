import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { createLocalBus, createServerBus, type Bus } from './bus.ts';
import { columnTypes } from './column-types.ts';
import { DamagedDatabase, holdFolder, type HeldFolder } from './data-folder.ts';
import {
  createStatementNames,
  scopedStatements,
  withNamedStatements,
  type NameStatement,
} from './pipeline/statements.ts';
import { openReads, type ReadsOptions } from './pipeline/reads.ts';
import type { Schema } from './schema.ts';
import { allCompanies, noteScope, oneCompany, outsideCompanies, type Scope } from './scope.ts';
import { singleStatements, type Run } from './pipeline/single-statements.ts';
import { beginLazily, type Db, type LazyTransaction } from './transaction.ts';

export type { Db } from './transaction.ts';

/** Ways to run statements, which all see the same rows. */
export type Handles = {
  /** Each statement for itself, on whichever connection is free. */
  readonly db: Db;
  /** For single statements that only read and are short as a rule: see {@link openReads}. */
  readonly reads: Db;
  /** For one mutation: see {@link beginLazily}. */
  begin(onOpen?: (db: Db) => Promise<void>): LazyTransaction;
};

/**
 * One database, embedded or a server's: the program that uses it cannot tell which. Its own handles are for what belongs
 * to no company: where row security is on, they see no row of any. See scope.ts.
 */
export type Database = Handles & {
  readonly kind: 'embedded' | 'server';
  /** What belongs to the company, and what belongs to none. */
  forCompany(companyId: number): Handles;
  /** All rows. Each use says why its rows are not those of one company. */
  readonly acrossCompanies: Handles;
  /** As whom the database was opened, the owner of its tables: for migrations and maintenance. */
  readonly owner: Handles;
  /** Reaches every process on this database. */
  readonly bus: Bus;
  /** Resolves when the database answers, rejects when it does not. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

export type OpenOptions = {
  /** Where the embedded database lives, or that folder as held already; left out, it lives in memory. */
  folder?: string | HeldFolder;
  /** Starts the embedded database from a dump of a data folder. */
  dump?: Blob;
  rowSecurity?: boolean;
};

export const embeddedExtensions = { pg_trgm, btree_gin };

/** PostgreSQL's own cache holds 128 MB from the first moment on; behind it is the system's cache of files anyway. */
const embeddedStartParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB'];

/** The longest that a caller waits for a free connection before the service says that it is overloaded. */
const connectTimeoutMs = 5_000;
const statementTimeoutMs = 30_000;

export type ServerOptions = {
  /** Each statement is run in the scope of its handle, on tables that `secureTables` has seen. */
  rowSecurity?: boolean;
  connectionsMax?: number;
  /** Connections for pipelined reads, beside the pool; 0 where a pooler hands out the server's connections. */
  readConnections?: number;
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
  const { connectionsMax = 10, readConnections = 2 } = options;
  const bus = createServerBus({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    query_timeout: connectTimeoutMs,
    application_name: 'work-management-service events',
  });
  const onWrite = options.onWrite ?? (() => {});
  const slowPool = openPool(Math.ceil(connectionsMax / 2));
  const reads = { connection, connectionCount: readConnections, onWrite, slowPool };
  return wrap('server', openPool(connectionsMax), bus, {
    rowSecurity: options.rowSecurity,
    reads: readConnections === 0 ? undefined : reads,
  });
}

/**
 * Opens the embedded database, for this process alone: PGlite has no lock of its own,
 * and two processes on one folder lose data silently.
 */
export async function openEmbedded({ folder, dump, rowSecurity }: OpenOptions = {}): Promise<Database> {
  const held = typeof folder === 'string' ? holdFolder(folder) : folder;
  try {
    held?.opening();
    const pglite = await openPGlite(held?.path, dump);
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

async function openPGlite(folder: string | undefined, dump: Blob | undefined): Promise<PGlite> {
  try {
    const pglite = await PGlite.create({
      ...(folder === undefined ? {} : { dataDir: join(folder, 'database') }),
      ...(dump === undefined ? {} : { loadDataDir: dump }),
      extensions: embeddedExtensions,
      startParams: embeddedStartParams,
    });
    await pglite.exec("set timezone = 'UTC'");
    return pglite;
  } catch (error) {
    if (folder === undefined) throw error;
    // What PGlite throws is not always an error, and says nothing of the cause.
    const reason = error instanceof Error ? error.message.split('\n', 1)[0]! : 'PostgreSQL gave up';
    throw new DamagedDatabase(folder, `it does not open (${reason})`, { cause: error });
  }
}

/** An open PGlite as a Database; closing that runs `afterwards`, which may close the PGlite. */
function wrapEmbedded(pglite: PGlite, rowSecurity?: boolean, afterwards?: () => Promise<void>): Database {
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
  return wrap('embedded', pool, createLocalBus(), { rowSecurity, afterwards });
}

type WrapOptions = {
  rowSecurity?: boolean | undefined;
  reads?: (Omit<ReadsOptions, 'nameOf' | 'onPool' | 'onSlowPool'> & { slowPool: pg.Pool }) | undefined;
  afterwards?: (() => Promise<void>) | undefined;
};

function wrap(
  kind: Database['kind'],
  pool: pg.Pool,
  bus: Bus,
  { rowSecurity = false, reads: readsOptions, afterwards }: WrapOptions,
): Database {
  const nameOf = createStatementNames();
  const dialect = dialectOn(pool, nameOf);
  const driver = dialect.createDriver();
  const db = new Kysely<Schema>({ dialect });
  const slow = readsOptions && new Kysely<Schema>({ dialect: dialectOn(readsOptions.slowPool, nameOf) });
  const onPool = runOn(pool, db, nameOf);
  const reads =
    readsOptions &&
    openReads(
      { db, dialect },
      { ...readsOptions, onPool, onSlowPool: runOn(readsOptions.slowPool, slow!, nameOf), nameOf },
    );

  function single(scope: Scope): Db {
    const handle = singleStatements({ db, dialect }, (query) => onPool(query, scope));
    return noteScope(handle, { root: handle, within: (other) => handlesOf(other).db });
  }
  function reading(scope: Scope): Db | undefined {
    const handle = reads?.handle(scope);
    return handle && noteScope(handle, { root: handle, within: (other) => handlesOf(other).reads });
  }
  const handlesOf = cached((scope: Scope): Handles => {
    const own = single(scope);
    return {
      db: own,
      reads: reading(scope) ?? own,
      begin: (onOpen) => beginLazily(db, { dialect, driver }, onOpen, scope),
    };
  });
  const unscoped: Handles = {
    db,
    reads: reads?.handle(undefined) ?? db,
    begin: (onOpen) => beginLazily(db, { dialect, driver }, onOpen),
  };

  return {
    ...(rowSecurity ? handlesOf(outsideCompanies) : unscoped),
    kind,
    forCompany: rowSecurity ? (companyId) => handlesOf(oneCompany(companyId)) : () => unscoped,
    acrossCompanies: rowSecurity ? handlesOf(allCompanies) : unscoped,
    owner: unscoped,
    bus,
    ping: async () => void (await sql`select 1`.execute(db)),
    close: async () => {
      await bus.close();
      await Promise.all([reads?.close(), slow?.destroy()]);
      await db.destroy();
      await afterwards?.();
    },
  };
}

/** Handles are made once for each scope: what requests of one company ask for at once goes together. */
function cached(make: (scope: Scope) => Handles): (scope: Scope) => Handles {
  const handles = new Map<string, Handles>();
  return (scope) => {
    const key = `${scope.role} ${scope.company}`;
    let found = handles.get(key);
    if (!found) {
      if (handles.size >= cachedMax) handles.clear();
      handles.set(key, (found = make(scope)));
    }
    return found;
  };
}

const cachedMax = 1_000;

function runOn(pool: pg.Pool, db: Db, nameOf: NameStatement): Run {
  const runScoped = scopedStatements(pool, nameOf);
  return (query, scope) =>
    scope
      ? runScoped(query, scope)
      : db.getExecutor().provideConnection((connection) => connection.executeQuery(query));
}

function dialectOn(pool: pg.Pool, nameOf: NameStatement): PostgresDialect {
  // A connection that breaks, idle or in use, fails its statement and is replaced at the next use;
  // without listeners its error would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  return new PostgresDialect({ pool: withNamedStatements(pool, nameOf) });
}
