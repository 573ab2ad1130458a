import { openEmbedded, openServer, type Database } from '../../db/open.ts';
import type { HeldFolder } from '../../db/data-folder.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../platform/log.ts';
import { CannotStart, reasonOf } from './cannot-start.ts';

/** Opens the database that the settings name. */
export async function openDatabase(
  {
    DATABASE_URL: url,
    DATABASE_CONNECTIONS: connectionsMax,
    DATABASE_READ_CONNECTIONS: readConnections,
    DATABASE_ROW_SECURITY: rowSecurity,
  }: Config,
  folder: string | HeldFolder,
  logger?: Logger,
): Promise<Database> {
  if (url === undefined) return openEmbedded({ folder, rowSecurity });
  const database = openServer(url, {
    connectionsMax,
    readConnections,
    rowSecurity,
    onWrite: (statement) => logger?.error({ statement }, 'a statement was sent as a read, but it writes'),
  });
  await database.ping().catch((error: unknown) => {
    throw new CannotStart(
      `The database at ${nameOf(url)} does not answer (${reasonOf(error)}): ` +
        'check DATABASE_URL, and that the server runs and lets this user in.',
    );
  });
  return database;
}

/** A database URL without user and password. */
export function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
