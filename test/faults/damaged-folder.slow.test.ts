import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { CannotStart } from '../../server/startup/cannot-start.ts';
import { readConfig } from '../../server/config.ts';
import { createLogger } from '../../server/platform/log.ts';
import { start } from '../../server/start.ts';
import { endAllProcesses, makeHome, runToEnd, startProcess, type Home } from '../support/process.ts';

/*
 * A data folder that is not whole is never overwritten: the start says in one sentence what is missing and what to do,
 * and leaves every file as it was.
 */

vi.setConfig({ testTimeout: 90_000, hookTimeout: 180_000 });

const temp = mkdtempSync(join(tmpdir(), 'wms-damage-'));
/** The folder of a service that was killed, started again and stopped in order; other users could enter it before that. */
let whole: string;
let saidAfterKill: string;
let home: Home;
const secondary = 'base/5/1259';

async function runOnce(folder: string): Promise<string> {
  const service = await startProcess({ DATA_DIR: folder });
  service.signal('SIGTERM');
  expect(await service.ended).toBe(0);
  return service.stdout();
}

beforeAll(async () => {
  home = await makeHome();
  whole = home.folder;
  const service = await startProcess({ DATA_DIR: whole });
  service.signal('SIGKILL');
  await service.ended;
  if (home.databaseUrl === undefined) chmodSync(join(whole, 'database', secondary), 0o666);
  chmodSync(whole, 0o755);
  saidAfterKill = await runOnce(whole);
  appendFileSync(join(whole, 'mail.jsonl'), '');
});
afterAll(async () => {
  await endAllProcesses();
  rmSync(temp, { recursive: true });
  await home.remove();
});

let copies = 0;
function newFolder(): string {
  const folder = join(temp, `copy-${(copies += 1)}`);
  mkdirSync(folder, { mode: 0o700 });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function copyOfWhole(): string {
  const folder = newFolder();
  cpSync(whole, folder, { recursive: true });
  chmodSync(folder, 0o700);
  return folder;
}

/** A folder for a start that changes no file: its files are those of `whole`, until a damage replaces one. */
function linksToWhole(): string {
  const folder = newFolder();
  for (const entry of readdirSync(whole, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const link = join(folder, path.slice(whole.length));
    if (entry.isFile()) linkSync(path, link);
    else mkdirSync(link, { recursive: true });
  }
  return folder;
}

const silent = createLogger({ level: 'silent', to: { write: () => {} } });

/** What a start in this folder throws. */
async function errorOfStart(folder: string): Promise<unknown> {
  const starting = start(readConfig({ DATA_DIR: folder, PORT: '0' }), silent);
  return starting.then(
    (running) => running.stop(),
    (error: unknown) => error,
  );
}

/** Every file and folder with what changes when it is written to or replaced. */
function contentOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { ino, size, mode, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
      return [path.slice(folder.length), entry.isFile() ? [ino, size, mode, mtimeNs, ctimeNs].join(' ') : 'folder'];
    }),
  );
}

/** A new file in place of the one that may belong to `whole` as well. */
function replace(file: string, content: string | Buffer): void {
  rmSync(file);
  writeFileSync(file, content);
}

function zero(file: string): void {
  replace(file, Buffer.alloc(statSync(file).size));
}

function truncate(file: string, bytes: number): void {
  replace(file, readFileSync(file).subarray(0, bytes));
}

function replaceByFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

const control = 'database/global/pg_control';

type Damage = [what: string, act: (folder: string) => void, sentence: RegExp];

const damages: Damage[] = [
  ['PG_VERSION is missing', (at) => rmSync(join(at, 'database/PG_VERSION')), /damaged: PG_VERSION is missing/],
  ['PG_VERSION is of another version', (at) => replace(join(at, 'database/PG_VERSION'), '9.6\n'), /says "9\.6"/],
  [
    'the database folder is empty',
    (at) => {
      rmSync(join(at, 'database'), { recursive: true });
      mkdirSync(join(at, 'database'));
    },
    /damaged: the folder is empty, although/,
  ],
  [
    'the database folder is empty beside keys and mail alone',
    (at) => {
      for (const name of ['database', 'database.json', 'demo-sign-in.json'])
        rmSync(join(at, name), { recursive: true });
      mkdirSync(join(at, 'database'));
    },
    /damaged: the folder is empty, although/,
  ],
  [
    'the database folder is missing',
    (at) => rmSync(join(at, 'database'), { recursive: true }),
    /the folder is missing/,
  ],
  [
    'a file is in place of the database folder',
    (at) => {
      rmSync(join(at, 'database'), { recursive: true });
      writeFileSync(join(at, 'database'), 'x');
    },
    /damaged: it is a file and no folder/,
  ],
  ['the control file is truncated', (at) => truncate(join(at, control), 100), /pg_control has 100 bytes instead/],
  ['the control file is zeroed', (at) => zero(join(at, control)), /pg_control does not hold what it should/],
  ['the control file is missing', (at) => rmSync(join(at, control)), /pg_control is missing/],
  [
    'the log of writes is missing',
    (at) => {
      for (const name of readdirSync(join(at, 'database/pg_wal')))
        if (name.startsWith('0')) rmSync(join(at, 'database/pg_wal', name));
    },
    /pg_wal holds no log of writes/,
  ],
  ['a relation is truncated', (at) => truncate(join(at, 'database', secondary), 8192), /1259 has 8192 bytes/],
  ['a relation is missing', (at) => rmSync(join(at, 'database', secondary)), /base\/5\/1259 is missing/],
  [
    'a file is in place of a folder of the database',
    (at) => {
      rmSync(join(at, 'database/pg_xact'), { recursive: true });
      writeFileSync(join(at, 'database/pg_xact'), '');
    },
    /the folder pg_xact is missing or no folder/,
  ],
  [
    'a folder of the database is elsewhere',
    (at) => renameSync(join(at, 'database/base'), join(at, 'base')),
    /base\/1 is m/,
  ],
  ['the keys are half written', (at) => truncate(join(at, 'auth-keys.json'), 20), /^The keys in .* cannot be used/],
  ['the keys are a folder', (at) => replaceByFolder(join(at, 'auth-keys.json')), /^The keys in .* cannot be used/],
  ['the demo sign-in is half written', (at) => truncate(join(at, 'demo-sign-in.json'), 9), /^The demo sign-in in .*/],
  ['the lock is a folder', (at) => replaceByFolder(join(at, 'lock')), /^The lock of the data folder, .*delete it/],
  [
    'the mail file is a folder',
    (at) => replaceByFolder(join(at, 'mail.jsonl')),
    /^Mail cannot be written to .*mail\.jsonl/,
  ],
];

describe.runIf(inject('template').kind === 'embedded')('a data folder', () => {
  // What the process makes of a CannotStart is proved once, below.
  test.each(damages)('of which %s stops the start in one sentence and stays as it is', async (_what, act, sentence) => {
    const folder = linksToWhole();
    act(folder);
    const before = contentOf(folder);
    const error = (await errorOfStart(folder)) as CannotStart;
    expect(error).toBeInstanceOf(CannotStart);
    expect(error.message).toMatch(/^[^\n]+$/);
    expect(error.message).toMatch(sentence);
    expect(error.message).toMatch(/[Rr]estore|delete|make it/);
    expect(error.message).not.toMatch(/\[object Object\]|\n +at /);
    expect(contentOf(folder)).toEqual(before);
  });

  test('that is damaged ends the process with that sentence alone and exit code 1', async () => {
    const folder = copyOfWhole();
    rmSync(join(folder, control));
    const before = contentOf(folder);
    const { code, stdout, stderr } = await runToEnd({ DATA_DIR: folder });
    expect(stderr).toMatch(/^The embedded database in [^\n]* is damaged: [^\n]*pg_control is missing[^\n]*\n$/);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(contentOf(folder)).toEqual(before);
  });

  test('whose damage only PostgreSQL finds stops the start in one sentence', async () => {
    const folder = copyOfWhole();
    zero(join(folder, 'database/global/pg_filenode.map'));
    const { code, stderr } = await runToEnd({ DATA_DIR: folder });
    expect(stderr).toMatch(/^The embedded database in [^\n]* is damaged: [^\n]*Restore [^\n]*\n$/);
    expect(code).toBe(1);
  });

  test('of a killed process opens, and one that other users may enter is closed to them', () => {
    expect(saidAfterKill).toContain('ready at');

    // One that other users may enter is closed to them, with its files, and the log says so.
    expect(saidAfterKill).toMatch(/"mode":"755","msg":"the data folder was open to other users/);
    expect(statSync(whole).mode & 0o777).toBe(0o700);
    const database = join(whole, 'database');
    for (const name of ['base/5', 'global'])
      for (const file of readdirSync(join(database, name)))
        expect([file, statSync(join(database, name, file)).mode & 0o077]).toEqual([file, 0]);
  });
});

/** A file system of its own, which ends with the program. */
const onSmallDisk = (size: string, prepare = 'true') => [
  'unshare',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${size} tmpfs "$DATA_DIR" && ${prepare} && exec "$0" server/main.ts`,
  process.execPath,
];

/** Where programs may not mount, as in many containers, no disk can be full. */
const mayMount =
  spawnSync('unshare', ['--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', temp]).status === 0;
const disks: [when: string, size: string, prepare?: string][] = [
  ['while a new database is made', '20m'],
  ['before anything can be written', '1m', 'dd if=/dev/zero of="$DATA_DIR/other" status=none 2>/dev/null || true'],
];

test.each(mayMount ? disks : [])('a disk that is full %s is said to be that', async (_when, size, prepare) => {
  const folder = newFolder();
  const { code, stderr } = await runToEnd({ DATA_DIR: folder }, onSmallDisk(size, prepare));
  expect([code, stderr]).toEqual([
    1,
    `The disk of the data folder ${folder} is full (ENOSPC): make room, of which a new database takes 50 MB, or set DATA_DIR to a folder on another disk.\n`,
  ]);
});
