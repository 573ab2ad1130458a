import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/* Files of the data folder that hold a secret: readable for the service's own user only, and replaced atomically. */

export function readPrivate(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Writes the file, replacing an earlier one. */
export function replacePrivate(file: string, text: string): void {
  renameSync(writeAside(file, text), file);
}

/** Writes the file if it does not exist; of several processes at once one wins. Returns the content of the file. */
export function createPrivate(file: string, text: string): string {
  const aside = writeAside(file, text);
  try {
    linkSync(aside, file);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  return readFileSync(file, 'utf8');
}

function writeAside(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const aside = `${file}.${process.pid}.new`;
  // A process with the same id may have been killed here and left its file.
  rmSync(aside, { force: true });
  writeFileSync(aside, text, { mode: 0o600, flag: 'wx', flush: true });
  return aside;
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === code;
