import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Two processes on one embedded database would lose data silently, so the second one is refused. */
export class FolderInUse extends Error {
  readonly folder: string;
  readonly holder: string;

  constructor(folder: string, holder: string) {
    super(
      `The data folder ${folder} is in use by ${holder}. ` +
        'Stop that process first, give this one another DATA_DIR, or set DATABASE_URL to share a PostgreSQL server.',
    );
    this.name = 'FolderInUse';
    this.folder = folder;
    this.holder = holder;
  }
}

/** The lock file is something else than a file, or this user may not write it. */
export class UnusableLock extends Error {
  constructor(file: string, cause: Error) {
    super(
      `The lock of the data folder, ${file}, cannot be taken (${cause.message}): ` +
        'it holds nothing, so delete it; or set DATA_DIR to a folder that this user may write.',
      { cause },
    );
    this.name = 'UnusableLock';
  }
}

/**
 * Locks `folder` for this process. The lock is the operating system's own file lock, taken through SQLite (the one
 * portable way that Node ships), so it ends with the process and leaves nothing stale.
 */
export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const holderFile = join(folder, 'lock.pid');
  const lockFile = join(folder, 'lock');
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockFile);
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (error) {
    lock?.close();
    if (!(error instanceof Error)) throw error;
    if (/locked|busy/.test(error.message)) throw new FolderInUse(folder, holderName(holderFile));
    throw new UnusableLock(lockFile, error);
  }
  const held = lock;
  writeFileSync(holderFile, String(process.pid));
  return {
    release() {
      if (!held.isOpen) return;
      rmSync(holderFile, { force: true });
      held.close();
    },
  };
}

function holderName(holderFile: string): string {
  try {
    return `process ${readFileSync(holderFile, 'utf8')}`;
  } catch {
    return 'another process';
  }
}
