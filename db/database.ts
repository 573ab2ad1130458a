import { Kysely, PostgresDialect, sql } from 'kysely';
import type pg from 'pg';
import type { Bus } from './bus.ts';
import { openReads, type ReadsOptions } from './pipeline/reads.ts';
import { singleStatements, type Run } from './pipeline/single-statements.ts';
import {
  createStatementNames,
  scopedStatements,
  withNamedStatements,
  type NameStatement,
} from './pipeline/statements.ts';
import { openReplica, type Replica, type ReplicaOptions } from './replica.ts';
import type { Schema } from './schema.ts';
import { allCompanies, noteScope, oneCompany, outsideCompanies, type Scope } from './scope.ts';
import { beginLazily, type Db, type LazyTransaction } from './transaction.ts';

/** Handles that run statements and all see the same rows. */
export type Handles = {
  /** Runs each statement by itself, on any free connection. */
  readonly db: Db;
  /** For single statements that only read and are usually short: see {@link openReads}. */
  readonly reads: Db;
  /** For single statements that only read and may read much: see replica.ts. Without a replica they are as `reads`. */
  readonly longReads: Db;
  /** For one mutation: see {@link beginLazily}. */
  begin(onOpen?: (db: Db) => Promise<void>): LazyTransaction;
};

/**
 * One database, embedded or on a server; the program that uses it cannot tell which. Its own handles are for rows of no
 * company: with row-level security they see no company's rows. See scope.ts.
 */
export type Database = Handles & {
  readonly kind: 'embedded' | 'server';
  /** Rows of the company, and rows of no company. */
  forCompany(companyId: number): Handles;
  /** All rows. Each use states why its rows are not those of one company. */
  readonly acrossCompanies: Handles;
  /** The user that opened the database, the owner of its tables: for migrations and maintenance. */
  readonly owner: Handles;
  /** Reaches every process on this database. */
  readonly bus: Bus;
  /** The standby that takes long reads, if there is one. */
  readonly replica?: Pick<Replica, 'state' | 'checked'>;
  /** Resolves when the database answers, rejects when it does not. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

type DatabaseOptions = {
  rowSecurity?: boolean;
  reads?: Omit<ReadsOptions, 'nameOf' | 'onPool' | 'onSlowPool'> & { slowPool: pg.Pool };
  replica?: Omit<ReplicaOptions, 'nameOf' | 'onPrimary'>;
  afterwards?: () => Promise<void>;
};

/** The handles of a database on a pool of its connections. */
export function createDatabase(
  kind: Database['kind'],
  pool: pg.Pool,
  bus: Bus,
  { rowSecurity = false, reads: readsOptions, replica: replicaOptions, afterwards }: DatabaseOptions,
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

  const replica =
    replicaOptions &&
    openReplica({
      ...replicaOptions,
      pool: surviveErrors(replicaOptions.pool),
      nameOf,
      onPrimary: reads?.run ?? onPool,
    });

  function single(scope: Scope): Db {
    const handle = singleStatements({ db, dialect }, (query) => onPool(query, scope));
    return noteScope(handle, { root: handle, within: (other) => handlesOf(other).db });
  }
  function reading(scope: Scope): Db | undefined {
    const handle = reads?.handle(scope);
    return handle && noteScope(handle, { root: handle, within: (other) => handlesOf(other).reads });
  }
  function readingLong(scope: Scope | undefined): Db | undefined {
    const handle = replica && singleStatements({ db, dialect }, (query) => replica.run(query, scope));
    if (!handle || !scope) return handle;
    return noteScope(handle, { root: handle, within: (other) => handlesOf(other).longReads });
  }
  const handlesOf = cached((scope: Scope): Handles => {
    const own = single(scope);
    const short = reading(scope) ?? own;
    return {
      db: own,
      reads: short,
      longReads: readingLong(scope) ?? short,
      begin: (onOpen) => beginLazily(db, { dialect, driver }, onOpen, scope),
    };
  });
  const short = reads?.handle(undefined) ?? db;
  const unscoped: Handles = {
    db,
    reads: short,
    longReads: readingLong(undefined) ?? short,
    begin: (onOpen) => beginLazily(db, { dialect, driver }, onOpen),
  };

  return {
    ...(rowSecurity ? handlesOf(outsideCompanies) : unscoped),
    kind,
    forCompany: rowSecurity ? (companyId) => handlesOf(oneCompany(companyId)) : () => unscoped,
    acrossCompanies: rowSecurity ? handlesOf(allCompanies) : unscoped,
    owner: unscoped,
    bus,
    replica,
    ping: async () => void (await sql`select 1`.execute(db)),
    close: async () => {
      await bus.close();
      await replica?.close();
      await Promise.all([reads?.close(), slow?.destroy()]);
      await db.destroy();
      await afterwards?.();
    },
  };
}

/** Handles are created once per scope, so that concurrent requests of one company share their batches. */
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

/**
 * A broken connection, idle or in use, fails its statement and is replaced at the next use; without a listener its error
 * would end the process.
 */
function surviveErrors(pool: pg.Pool): pg.Pool {
  return pool.on('error', () => {}).on('connect', (client) => void client.on('error', () => {}));
}

function dialectOn(pool: pg.Pool, nameOf: NameStatement): PostgresDialect {
  surviveErrors(pool);
  return new PostgresDialect({ pool: withNamedStatements(pool, nameOf) });
}
