import { setFlagsFromString } from 'node:v8';
import { openServer, type Database, type ServerOptions } from '../../db/open.ts';
import type { HeldFolder } from '../../db/data-folder.ts';
import { continueAuditClock } from '../../db/audit-clock.ts';
import { migrate, pendingMigrations } from '../../db/migrate.ts';
import * as search from '../../db/migrations/0034-search.ts';
import { listMissingSettings, sharesSessions } from '../../db/pooler.ts';
import { secureTables } from '../../db/row-security.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../platform/log.ts';
import { CannotStart, reasonOf } from './cannot-start.ts';
import { checkConnections } from './check-connections.ts';

/** Opens the database that the settings name. */
export async function openDatabase(
  config: Config,
  folder: string | HeldFolder,
  { logger, hasTimeLimit }: { logger?: Logger; hasTimeLimit?: boolean },
): Promise<Database> {
  const { DATABASE_URL: url, DATABASE_REPLICA_URL: replicaUrl, DATABASE_ROW_SECURITY: rowSecurity } = config;
  if (url === undefined) {
    compileOnce();
    // A server's clients do without the embedded one.
    const { openEmbedded } = await import('../../db/open-embedded.ts');
    return openEmbedded({ folder, rowSecurity });
  }
  const isPooled = await findPooler(url, config, logger);
  const database = openServer(url, {
    connectionsMax: config.DATABASE_CONNECTIONS,
    readConnections: config.DATABASE_READ_CONNECTIONS,
    rowSecurity,
    isPooled,
    hasTimeLimit,
    directUrl: config.DATABASE_DIRECT_URL ?? (isPooled ? undefined : url),
    onWrite: (statement) => logger?.error({ statement }, 'a statement was sent as a read, but it writes'),
    replica: replicaUrl === undefined ? undefined : await replicaOf(replicaUrl, config, logger),
  });
  try {
    await database.ping().catch((error: unknown) => {
      throw doesNotAnswer('DATABASE_URL', url, error);
    });
    if (!isPooled) await checkConnections(database.owner.db, config, logger);
    await database.replica?.checked;
    if (database.replica?.state().obstacle === 'is of another database')
      throw new CannotStart(
        `DATABASE_REPLICA_URL leads to another database (${nameOf(replicaUrl!)}) than DATABASE_URL: set it to a standby of that.`,
      );
  } catch (error) {
    await database.close().catch(() => {});
    throw error;
  }
  return database;
}

/**
 * V8 would compile PGlite's busiest functions once more, optimised, in its background threads. A start took 6.0 s of processor time with
 * that instead of 4.3, the process 885 MB at its peak instead of 450, and the end of a command waited two seconds for it. The price:
 * statements take up to a third longer once a process has run for a while, requests a tenth. V8 reads both flags when it compiles a module.
 */
function compileOnce(): void {
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}

/** A standby that is away does not keep a node from starting: reads go to the primary until it is there. */
async function replicaOf(url: string, config: Config, logger?: Logger): Promise<ServerOptions['replica']> {
  if (await sharesSessions(url).catch(() => false))
    throw new CannotStart(
      `A pooler in transaction mode answers at ${nameOf(url)}: set DATABASE_REPLICA_URL to the standby itself.`,
    );
  return {
    url,
    lagMaxMs: config.DATABASE_REPLICA_LAG_MAX_MS,
    onChange(obstacle, err) {
      if (obstacle === undefined) logger?.info({}, 'the replica takes long reads');
      else logger?.warn({ err }, `the replica ${obstacle}: long reads go to the primary`);
    },
  };
}

/** Whether a pooler in transaction mode answers; ends the start where the settings do not fit that. */
async function findPooler(url: string, { DATABASE_POOLER: pooler }: Config, logger?: Logger): Promise<boolean> {
  const isShared = await sharesSessions(url).catch((error: unknown) => {
    throw doesNotAnswer('DATABASE_URL', url, error);
  });
  if (pooler === undefined) {
    if (!isShared) return false;
    throw new CannotStart(
      `A pooler in transaction mode answers at ${nameOf(url)}: set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to the server itself.`,
    );
  }
  const missing = await listMissingSettings(url);
  if (missing.length === 0) return true;
  if (!isShared) {
    logger?.warn({}, 'DATABASE_POOLER is set, but the server itself answers: it is used without a pooler');
    return false;
  }
  throw new CannotStart(
    `The sessions behind the pooler at ${nameOf(url)} lack settings: add to connect_query in the pooler's [databases] ` +
      missing.map((one) => `set ${one};`).join(' '),
  );
}

function doesNotAnswer(setting: string, url: string, error: unknown): CannotStart {
  return new CannotStart(
    `The database at ${nameOf(url)} does not answer (${reasonOf(error)}): ` +
      `check ${setting}, and that the server runs and lets this user in.`,
  );
}

/** Brings the database to the state that this version needs, and returns the names of the steps taken. */
export async function updateDatabase(config: Config, database: Database): Promise<string[]> {
  const { DATABASE_URL: url, DATABASE_POOLER: pooler, DATABASE_DIRECT_URL: directUrl } = config;
  if (pooler !== undefined && directUrl === undefined) {
    const pending = await pendingMigrations(database.owner.db).catch(() => undefined);
    if (pending?.length !== 0 && (await sharesSessions(url!)))
      throw new CannotStart(
        'The database lacks migrations, and they take a lock that a pooler in transaction mode cannot keep: set DATABASE_DIRECT_URL to the server itself.',
      );
  }
  const direct = openForMigrations(directUrl ?? (pooler === undefined ? url : undefined));
  const { db } = (direct ?? database).owner;
  try {
    await direct?.ping().catch((error: unknown) => {
      throw doesNotAnswer(directUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL', directUrl ?? url!, error);
    });
    const steps = await migrate(db);
    if (config.DATABASE_ROW_SECURITY) await secureTables(db);
    await continueAuditClock(db);
    return steps;
  } finally {
    await direct?.close();
  }
}

/** Builds the indexes of large tables that migrations to come need, while nodes write. */
export async function buildIndexesFirst(config: Config): Promise<void> {
  const direct = openForMigrations(config.DATABASE_DIRECT_URL ?? config.DATABASE_URL);
  if (!direct) throw new CannotStart('The embedded database has no other writers: migrate it.');
  try {
    await search.buildIndexesFirst(direct.owner.db);
  } finally {
    await direct.close();
  }
}

/** Its statements have no time limit: a new index takes as long as its table is large. */
const openForMigrations = (url: string | undefined): Database | undefined =>
  url === undefined ? undefined : openServer(url, { connectionsMax: 2, readConnections: 0, hasTimeLimit: false });

/** A database URL without user and password. */
export function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
