import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { lockFolder } from './folder-lock.ts';

/*
 * Checks the folder of the embedded database before PGlite opens it: PGlite creates a new database where it finds none,
 * and changes files before it finds others damaged. `database.json`, next to the database, lists its files with their
 * sizes at the last clean stop; while the database is open the list is empty. If the file exists, a database existed,
 * unless it says that one is being created: what a process that was killed then has left holds nothing, and is deleted.
 */

/** The embedded database is damaged or incomplete. None of its files was changed. */
export class DamagedDatabase extends Error {
  override name = 'DamagedDatabase';

  constructor(folder: string, what: string, options?: ErrorOptions) {
    super(
      `The embedded database in ${join(folder, 'database')} is damaged: ${what}. ` +
        `Restore ${folder} from a backup, or delete it to begin with an empty database.`,
      options,
    );
  }
}

/** A data folder that this process has locked; its database is intact or new. */
export type HeldFolder = {
  path: string;
  /** Call it right before the database is opened or created, because its files will change. */
  opening(): void;
  /** Call it when the database is open, before anything is stored in it. */
  opened(): void;
  /** Call it after the database was closed cleanly. */
  closed(): void;
  release(): void;
};

/** Other files of the service in the folder: if one exists and the database is empty, the database was lost. */
const companions = ['auth-keys.json', 'mail.jsonl', 'demo-sign-in.json'];
const versionFile = 'PG_VERSION';
const version = '18';
const controlFile = 'global/pg_control';
const controlBytes = 8192;
const folders = [
  'base/1',
  'base/5',
  'global',
  'pg_multixact',
  'pg_notify',
  'pg_subtrans',
  'pg_tblspc',
  'pg_wal',
  'pg_xact',
];
const files = ['base/5/pg_filenode.map', 'global/pg_filenode.map', 'postgresql.conf'];
const listedFolders = ['base', 'global', 'pg_multixact', 'pg_wal', 'pg_xact'];
/** PostgreSQL recreates this one by itself. */
const cacheFile = /pg_internal\.init$/;

/** Locks the folder, creates it if it is missing, and throws if its database is damaged. */
export function holdFolder(folder: string): HeldFolder {
  const lock = lockFolder(folder);
  const database = join(folder, 'database');
  const listFile = join(folder, 'database.json');
  let isNew: boolean;
  try {
    if (readState(listFile).isBeingCreated === true) {
      rmSync(database, { recursive: true, force: true });
      rmSync(listFile);
    }
    isNew = check(folder, database, listFile) === 'new';
  } catch (error) {
    lock.release();
    throw error;
  }
  const writeList = (list: object): void => {
    const aside = `${listFile}.new`;
    writeFileSync(aside, JSON.stringify(list), { mode: 0o600 });
    renameSync(aside, listFile);
  };
  return {
    path: folder,
    opening: () => writeList(isNew ? { isBeingCreated: true } : {}),
    opened: () => writeList({}),
    closed() {
      writeList({ files: listFiles(database) });
    },
    release: () => lock.release(),
  };
}

function check(folder: string, database: string, listFile: string): 'new' | 'intact' {
  const damaged = (what: string): DamagedDatabase => new DamagedDatabase(folder, what);
  const entries = entriesOf(database, damaged);
  if (entries === undefined && !existsSync(listFile)) return 'new';
  if (entries === undefined) throw damaged('the folder is missing');
  if (entries.length === 0) {
    if (![listFile, ...companions.map((name) => join(folder, name))].some((path) => existsSync(path))) return 'new';
    throw damaged('the folder is empty, although the service has been used');
  }
  const sizeOf = (name: string): number | undefined => sizeAt(join(database, name));
  if (sizeOf(versionFile) === undefined) throw damaged(`${versionFile} is missing`);
  const found = readFileSync(join(database, versionFile), 'utf8').trim();
  if (found !== version)
    throw damaged(`${versionFile} says ${JSON.stringify(found.slice(0, 20))} instead of ${version}`);
  for (const name of folders)
    if (!isFolder(join(database, name))) throw damaged(`the folder ${name} is missing or no folder`);
  for (const name of files) if (!((sizeOf(name) ?? 0) > 0)) throw damaged(`${name} is missing or empty`);
  checkControl(sizeOf(controlFile), () => readFileSync(join(database, controlFile)), damaged);
  const segments = readdirSync(join(database, 'pg_wal')).filter((name) => /^[\dA-F]{24}$/.test(name));
  if (segments.length === 0) throw damaged('pg_wal holds no log of writes');
  const listed = readState(listFile).files ?? {};
  for (const [name, bytes] of Object.entries(listed)) {
    const now = sizeOf(name);
    if (now === undefined) throw damaged(`${name} is missing`);
    if (now !== bytes) throw damaged(`${name} has ${now} bytes instead of ${bytes}`);
  }
  return 'intact';
}

function checkControl(bytes: number | undefined, read: () => Buffer, damaged: (what: string) => DamagedDatabase): void {
  if (bytes === undefined) throw damaged(`${controlFile} is missing`);
  if (bytes !== controlBytes) throw damaged(`${controlFile} has ${bytes} bytes instead of ${controlBytes}`);
  // The version of the control file's format follows the system identifier: 1800 for PostgreSQL 18.
  if (read().readUInt32LE(8) !== Number(version) * 100) throw damaged(`${controlFile} does not hold what it should`);
}

function entriesOf(database: string, damaged: (what: string) => DamagedDatabase): string[] | undefined {
  const stat = statSync(database, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (!stat.isDirectory()) throw damaged('it is a file and no folder');
  return readdirSync(database);
}

type State = { files?: Record<string, number>; isBeingCreated?: boolean };

/** What `database.json` says; nothing if it is missing or unreadable. */
function readState(listFile: string): State {
  try {
    return (JSON.parse(readFileSync(listFile, 'utf8')) as State | null) ?? {};
  } catch {
    return {};
  }
}

function listFiles(database: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const folder of listedFolders)
    for (const entry of readdirSync(join(database, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const { size, mode } = statSync(path);
      // PGlite creates files that everybody can read. The folder around them is private, but a copy of it may not be.
      if ((mode & 0o077) !== 0) chmodSync(path, 0o600);
      if (!cacheFile.test(entry.name)) found[path.slice(database.length + 1).replaceAll('\\', '/')] = size;
    }
  return found;
}

function sizeAt(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true ? stat.size : undefined;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Creates the folder, or removes other users' access to it; returns its previous mode. A folder that is shared on
 * purpose (sticky, such as /tmp) or belongs to another user stays as it is.
 */
export function closeFolder(folder: string): { mode: number; isClosed: boolean } | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { mode } = statSync(folder);
  if (process.platform === 'win32' || (mode & 0o077) === 0) return undefined;
  const had = mode & 0o777;
  if ((mode & 0o1000) !== 0) return { mode: had, isClosed: false };
  try {
    chmodSync(folder, 0o700);
  } catch {
    return { mode: had, isClosed: false };
  }
  return { mode: had, isClosed: true };
}
