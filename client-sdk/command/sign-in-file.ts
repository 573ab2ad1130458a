import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { keepSessionIn, type ClientSession, type KeptSession } from 'work-management-client';
import { Problem } from './problem.ts';

/*
 * The sign-in of this person on this machine, in one file that only they can read. It is replaced as a whole, so a reader sees
 * the old one or the new one. Who changes it holds a lock, so that of two commands that renew the same session at once
 * the one with older tokens does not win.
 */

export type SignIn = {
  /** The service that it is for; it is never sent to another one. */
  url: string;
  session?: ClientSession;
  apiKey?: string;
};

export type SignInFile = {
  path: string;
  read(): SignIn | null;
  /** Replaces it; null removes it. */
  write(signIn: SignIn | null): void;
  /** How a client keeps its session here. */
  keeping(url: string): KeptSession;
};

type Environment = Record<string, string | undefined>;

/** Where the system keeps settings of a person. */
export function findConfigFolder(platform: NodeJS.Platform, environment: Environment, home: string): string {
  const { XDG_CONFIG_HOME: xdg = '', APPDATA: appData = '' } = environment;
  // The specification ignores one that is not absolute.
  if (isAbsolute(xdg)) return join(xdg, 'wms');
  if (platform === 'win32') return join(appData === '' ? join(home, 'AppData', 'Roaming') : appData, 'wms');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'wms');
  return join(home, '.config', 'wms');
}

export function openSignInFile(folder = findConfigFolder(process.platform, process.env, homedir())): SignInFile {
  const path = join(folder, 'sign-in.json');

  function read(): SignIn | null {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw new Problem(`${path} cannot be read: ${(error as Error).message}.`);
    }
    try {
      const signIn = JSON.parse(text) as SignIn;
      return typeof signIn.url === 'string' ? signIn : null;
    } catch {
      // What was damaged counts as none; the next sign-in replaces it.
      return null;
    }
  }

  function replace(signIn: SignIn | null): void {
    if (signIn) replaceFile(path, `${JSON.stringify(signIn, null, 2)}\n`);
    else rmSync(path, { force: true });
  }

  return {
    path,
    read,
    write: (signIn) => locked(path, () => replace(signIn)),
    keeping(url) {
      const ofUrl = (): SignIn | null => {
        const kept = read();
        return kept?.url === url ? kept : null;
      };
      const kept = keepSessionIn({
        getItem: () => JSON.stringify(ofUrl()?.session ?? null),
        setItem: (_, session) => replace({ url, session: JSON.parse(session) as ClientSession }),
        removeItem: () => {
          if (ofUrl()) replace({ url });
        },
      });
      return {
        loadSession() {
          const session = kept.loadSession();
          // A refresh whose tokens cannot be stored would lose the session: the next command would use the old refresh token. With
          // no `expiresAt` the client refreshes nothing by itself, and the service answers an expired token with a fresh one.
          return session && !isWritable(folder) ? { ...session, expiresAt: null } : session;
        },
        onSession(session, change) {
          if ((change === 'refreshed' || change === 'ended') && !isWritable(folder)) return;
          locked(path, () => {
            // Somebody signed in elsewhere, or out, while this command ran: that stays.
            if (change === 'refreshed' && !ofUrl()?.session) return;
            kept.onSession(session, change);
          });
        },
      };
    },
  };
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Writes a file beside it and renames that, so that there is never half of one. */
function replaceFile(path: string, text: string): void {
  chmodSync(dirname(path), 0o700);
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.part`;
  const file = openSync(unfinished, 'wx', 0o600);
  try {
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** A lock is held for milliseconds: one of this age was left by a process that was killed. */
const abandonedMs = 5_000;
const pauseMs = 5;

function locked(path: string, change: () => void): void {
  try {
    changeLocked(path, change);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(`${path} cannot be written: ${(error as Error).message}. WMS_API_KEY needs no file.`);
  }
}

function changeLocked(path: string, change: () => void): void {
  const lock = `${path}.lock`;
  makeFolder(dirname(path));
  const deadline = Date.now() + 2 * abandonedMs;
  while (!take(lock)) {
    if (Date.now() > deadline) throw new Problem(`${lock} is there and stays: remove it if no other wms is running.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
  try {
    change();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Node's own recursion never ends where the system makes no folder in one that is there, such as in /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another command has made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function take(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Windows says EPERM of a file that is being removed.
    if (code !== 'EEXIST' && code !== 'EPERM') throw error;
    const { mtimeMs = Date.now() } = statSync(lock, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > abandonedMs) rmSync(lock, { force: true });
    return false;
  }
}
