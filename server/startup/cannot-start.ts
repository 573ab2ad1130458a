import { statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import { DamagedDatabase } from '../../db/data-folder.ts';
import { FolderInUse, UnusableLock } from '../../db/folder-lock.ts';
import { MigrationFailed } from '../../db/migrate.ts';
import { RowSecurityDenied } from '../../db/row-security.ts';
import { BadSetting, type Config } from '../config.ts';
import { DamagedDemoSignIn } from '../demo/sign-in-file.ts';

/** Something outside the program prevents the start; the message says what, and what to do about it. */
export class CannotStart extends Error {
  override name = 'CannotStart';
}

/** The error as a {@link CannotStart} if its cause is known; a bug of the program stays as it is. */
export function toCannotStart(error: unknown, config: Config): unknown {
  const { HOST: host, PORT: port, DATA_DIR: folder, DATABASE_URL: url } = config;
  if (!(error instanceof Error) || error instanceof CannotStart) return error;
  // What fails then depends on where it is noticed, and a database that lacks room is not damaged.
  if (hasCode(error, 'ENOSPC') || (url === undefined && isOfStorage(error) && isFull(folder)))
    return new CannotStart(
      `The disk of the data folder ${resolve(folder)} is full (ENOSPC): make room, of which a new database takes 50 MB, or set DATA_DIR to a folder on another disk.`,
      { cause: error },
    );
  if (
    [FolderInUse, UnusableLock, DamagedDatabase, DamagedDemoSignIn, BadSetting, RowSecurityDenied].some(
      (known) => error instanceof known,
    )
  )
    return new CannotStart(error.message, { cause: error });
  if (error instanceof MigrationFailed) {
    const { cause } = error;
    if (url === undefined && isDamage((cause as { code?: string } | undefined)?.code))
      return toCannotStart(cause, config);
    return new CannotStart(cause instanceof Error ? `${error.message} (${cause.message})` : error.message);
  }
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (url === undefined && isDamage(code))
    return new CannotStart(new DamagedDatabase(resolve(folder), error.message).message);
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    const at = `${host}:${port}`;
    switch (code) {
      case 'EADDRINUSE':
        return new CannotStart(`${at} is in use: stop what listens there, or set PORT to another port.`);
      case 'EACCES':
        return new CannotStart(`This user may not listen on ${at}: set PORT to a port above 1023.`);
      default:
        return new CannotStart(
          `It is not possible to listen on ${at} (${code}): set HOST to an address of this machine.`,
        );
    }
  }
  if (code === 'ERR_SQLITE_ERROR' || (syscall !== undefined && 'path' in error))
    return new CannotStart(
      `The data folder ${folder} cannot be used (${error.message}): set DATA_DIR to a folder that this user may write.`,
    );
  return error;
}

const hasCode = (error: Error, ...codes: string[]): boolean => codes.includes((error as { code?: string }).code ?? '');

/** Whether the embedded database or the lock of its folder failed; 53100 is PostgreSQL's code for a full disk. */
const isOfStorage = (error: Error): boolean =>
  [UnusableLock, DamagedDatabase, MigrationFailed].some((known) => error instanceof known) ||
  hasCode(error, '53100', 'ERR_SQLITE_ERROR');

function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < 1024 ** 2;
}

/** PostgreSQL's codes for missing or damaged files. */
const isDamage = (code: string | undefined): boolean => code !== undefined && /^(XX00[012]|58P01|58030)$/.test(code);

/** The reason of a failure, as a part of a sentence. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return message === '' || message === undefined ? (code ?? 'no reason given') : message;
}
