import { FolderInUse } from '../db/folder-lock.ts';
import { MigrationFailed } from '../db/migrate.ts';
import { BadSetting, type Config } from './config.ts';

/** Something outside the program stands in the way of the start; the message says what, and what to do about it. */
export class CannotStart extends Error {
  override name = 'CannotStart';
}

/** The error as a {@link CannotStart} where its cause is known; what is a fault of the program stays as it is. */
export function toCannotStart(error: unknown, { HOST: host, PORT: port, DATA_DIR: folder }: Config): unknown {
  if (!(error instanceof Error) || error instanceof CannotStart) return error;
  if (error instanceof FolderInUse || error instanceof BadSetting) return new CannotStart(error.message);
  if (error instanceof MigrationFailed) {
    const { cause } = error;
    return new CannotStart(cause instanceof Error ? `${error.message} (${cause.message})` : error.message);
  }
  const { code, syscall } = error as NodeJS.ErrnoException;
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
