import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Two processes on one embedded database lose data without a word, so the second one is refused. */
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

/**
 * Holds `folder` for this process alone. The lock is the operating system's own on a file (taken through SQLite,
 * the one portable way that Node ships), so it goes with the process however that ends: nothing stale stays behind.
 */
export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const holderFile = join(folder, 'lock.pid');
  const lock = new DatabaseSync(join(folder, 'lock'));
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (error) {
    lock.close();
    if (!(error instanceof Error) || !/locked|busy/.test(error.message)) throw error;
    throw new FolderInUse(folder, holderName(holderFile));
  }
  writeFileSync(holderFile, String(process.pid));
  return {
    release() {
      rmSync(holderFile, { force: true });
      lock.close();
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
