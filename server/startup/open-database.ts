import { openEmbedded, openServer, type Database } from '../../db/open.ts';
import type { HeldFolder } from '../../db/data-folder.ts';
import { migrate, pendingMigrations } from '../../db/migrate.ts';
import { listOtherSettings, sharesSessions } from '../../db/pooler.ts';
import { secureTables } from '../../db/row-security.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../platform/log.ts';
import { CannotStart, reasonOf } from './cannot-start.ts';
import { checkConnections } from './check-connections.ts';

/** Opens the database that the settings name. */
export async function openDatabase(config: Config, folder: string | HeldFolder, logger?: Logger): Promise<Database> {
  const { DATABASE_URL: url, DATABASE_POOLER: pooler, DATABASE_ROW_SECURITY: rowSecurity } = config;
  if (url === undefined) return openEmbedded({ folder, rowSecurity });
  const isPooled = pooler === 'transaction';
  const database = openServer(url, {
    connectionsMax: config.DATABASE_CONNECTIONS,
    readConnections: config.DATABASE_READ_CONNECTIONS,
    rowSecurity,
    isPooled,
    directUrl: config.DATABASE_DIRECT_URL ?? (isPooled ? undefined : url),
    onWrite: (statement) => logger?.error({ statement }, 'a statement was sent as a read, but it writes'),
  });
  try {
    await database.ping().catch((error: unknown) => {
      throw isRefusedByPooler(error) ? poolerFound(url) : doesNotAnswer(url, error);
    });
    if (isPooled) await requireSettings(url);
    else if (await sharesSessions(url)) throw poolerFound(url);
    else await checkConnections(database.owner.db, config, logger);
  } catch (error) {
    await database.close().catch(() => {});
    throw error;
  }
  return database;
}

function doesNotAnswer(url: string, error: unknown): CannotStart {
  return new CannotStart(
    `The database at ${nameOf(url)} does not answer (${reasonOf(error)}): ` +
      'check DATABASE_URL, and that the server runs and lets this user in.',
  );
}

const poolerFound = (url: string): CannotStart =>
  new CannotStart(
    `A pooler in transaction mode answers at ${nameOf(url)}: set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to the server itself.`,
  );

/** PgBouncer's words for what it is told at the beginning of a connection and does not know. */
const isRefusedByPooler = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('unsupported startup parameter');

async function requireSettings(url: string): Promise<void> {
  const other = await listOtherSettings(url);
  if (other.length > 0)
    throw new CannotStart(
      `The sessions behind the pooler at ${nameOf(url)} lack settings: add to connect_query in the pooler's [databases] ` +
        other.map((one) => `set ${one};`).join(' '),
    );
}

/** Brings the database to the state that this version needs, and returns the names of the steps taken. */
export async function updateDatabase(config: Config, database: Database): Promise<string[]> {
  const { DATABASE_POOLER: pooler, DATABASE_DIRECT_URL: directUrl, DATABASE_ROW_SECURITY: rowSecurity } = config;
  if (pooler !== undefined && directUrl === undefined) {
    const pending = await pendingMigrations(database.owner.db).catch(() => undefined);
    if (pending?.length !== 0)
      throw new CannotStart(
        'The database lacks migrations, and they take a lock that a pooler in transaction mode cannot keep: set DATABASE_DIRECT_URL to the server itself.',
      );
  }
  const direct = directUrl === undefined ? undefined : openServer(directUrl, { connectionsMax: 2, readConnections: 0 });
  const { db } = (direct ?? database).owner;
  try {
    await direct?.ping().catch((error: unknown) => {
      throw doesNotAnswer(directUrl!, error);
    });
    const steps = await migrate(db);
    if (rowSecurity) await secureTables(db);
    return steps;
  } finally {
    await direct?.close();
  }
}

/** A database URL without user and password. */
export function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
