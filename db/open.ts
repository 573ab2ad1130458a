import pg from 'pg';
import { createLocalBus, createServerBus } from './bus.ts';
import { columnTypes } from './column-types.ts';
import { createDatabase, type Database } from './database.ts';
import { closeAtUnreadable, GuardedSocket } from './guarded-socket.ts';
import type { ReadsOptions } from './pipeline/reads.ts';
import { shareSessions } from './pipeline/statement-query.ts';
import { sessionSettings } from './pooler.ts';
import type { ReplicaOptions } from './replica.ts';
import { watchForSilence } from './silence.ts';

export type { Database, Handles } from './database.ts';
export type { Db } from './transaction.ts';

/** A caller waits this long for a free connection, then the service answers that it is overloaded. */
const connectTimeoutMs = 5_000;
/** An idle connection whose host has vanished is closed after 15 seconds: Node asks ten times more, once a second. */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 };

export type ServerOptions = {
  /** Runs each statement in the scope of its handle; `secureTables` must have run on the tables. */
  rowSecurity?: boolean;
  connectionsMax?: number;
  /**
   * Connections for pipelined reads, in addition to the pool; 0 behind a pooler that shares the server's connections.
   */
  readConnections?: number;
  /** The URL leads to a pooler that gives each transaction another session: see pooler.ts. */
  isPooled?: boolean;
  /** False: a statement may take as long as it needs, as those of a migration do. */
  hasTimeLimit?: boolean;
  /** Leads to the server itself, for what needs a session of its own. */
  directUrl?: string;
  onWrite?: ReadsOptions['onWrite'];
  /** A standby of the same database, for long reads. */
  replica?: { url: string } & Partial<Pick<ReplicaOptions, 'lagMaxMs' | 'onChange'>>;
};

/** Opens the PostgreSQL server at `url`. */
export function openServer(url: string, options: ServerOptions = {}): Database {
  const { connectionsMax = 10, isPooled = false, hasTimeLimit = true } = options;
  const { directUrl = isPooled ? undefined : url } = options;
  const readConnections = isPooled ? 0 : (options.readConnections ?? 2);
  const connection = connectionTo(url, isPooled ? undefined : sessionOptions);
  const urls = [...new Set([url, directUrl ?? url])];
  const targets = urls.map((connectionString) => ({ ...connection, connectionString }));
  const silence = watchForSilence(targets, { isPooled });
  const openPool = (max: number) =>
    openServerPool({ ...connection, max }, { isPooled, hasTimeLimit }).on('connect', silence.add);
  const bus =
    directUrl === undefined
      ? createLocalBus()
      : createServerBus({
          connectionString: directUrl,
          connectionTimeoutMillis: connectTimeoutMs,
          stream: () => new GuardedSocket(),
          ...keepAlive,
          query_timeout: connectTimeoutMs,
          application_name: 'work-management-service events',
        });
  const onWrite = options.onWrite ?? (() => {});
  const reads =
    readConnections === 0
      ? undefined
      : {
          connection,
          connectionCount: readConnections,
          onWrite,
          slowPool: openPool(Math.ceil(connectionsMax / 2)),
        };
  const replica = options.replica && replicaAt(options.replica, Math.ceil(connectionsMax / 2));
  return createDatabase('server', openPool(connectionsMax), bus, {
    rowSecurity: options.rowSecurity,
    reads,
    replica: replica && { ...replica, onWrite },
    afterwards: async () => {
      silence.close();
      replica?.silence.close();
    },
  });
}

/** Compiling a plan costs more than all but the longest of these statements. */
const sessionOptions = '-c TimeZone=UTC -c jit=off';

const connectionTo = (url: string, options: string | undefined): pg.ClientConfig => ({
  connectionString: url,
  types: columnTypes,
  connectionTimeoutMillis: connectTimeoutMs,
  stream: () => new GuardedSocket(),
  ...keepAlive,
  application_name: 'work-management-service',
  options,
});

function replicaAt({ url, lagMaxMs = 500, onChange = () => {} }: NonNullable<ServerOptions['replica']>, max: number) {
  const connection = connectionTo(url, `${sessionOptions} -c default_transaction_read_only=on`);
  const silence = watchForSilence([connection], { isPooled: false });
  const pool = openServerPool({ ...connection, max }, { isPooled: false, hasTimeLimit: true });
  pool.on('connect', silence.add);
  return { connection, pool, silence, lagMaxMs, onChange };
}

function openServerPool(
  config: pg.PoolConfig,
  { isPooled, hasTimeLimit }: { isPooled: boolean; hasTimeLimit: boolean },
): pg.Pool {
  const { jit: _, statement_timeout: timeLimit, ...others } = sessionSettings;
  const timeouts = hasTimeLimit ? { ...others, statement_timeout: timeLimit } : others;
  const pool = new pg.Pool({
    ...config,
    // The statements of a transaction go out without waiting for each other's answers.
    pipeline: true,
    idleTimeoutMillis: 30_000,
    // The client's own limit, for a server that stopped answering.
    ...(hasTimeLimit ? { query_timeout: Number(timeLimit) + 5_000 } : {}),
    ...(isPooled
      ? // The one setting that PgBouncer keeps for a connection, whichever session it is given.
        { onConnect: (client: pg.ClientBase) => client.query("set timezone to 'UTC'") as unknown as void }
      : Object.fromEntries(Object.entries(timeouts).map(([name, value]) => [name, Number(value)]))),
  });
  pool.on('connect', closeAtUnreadable);
  if (isPooled) pool.on('connect', shareSessions);
  return pool;
}
