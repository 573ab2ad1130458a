import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  createWriteStream,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  mkdtempSync,
  chownSync,
  mkdirSync,
  chmodSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A part of the cluster cannot be started; the message says what to do. */
export class CannotRun extends Error {}

/** The programs of the cluster, and the packages of Debian that have them. */
const packages = {
  etcd: 'etcd-server',
  patroni: 'patroni',
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  'redis-server': 'redis-server',
  postgres: 'postgresql',
} as const;
export type Program = keyof typeof packages;

const debianPostgres = '/usr/lib/postgresql';

/** Where Debian keeps PostgreSQL's programs, the latest version first; it does not have them on the PATH. */
function postgresFolders(): string[] {
  const versions = existsSync(debianPostgres) ? readdirSync(debianPostgres) : [];
  return versions.toSorted((a, b) => Number(b) - Number(a)).map((version) => join(debianPostgres, version, 'bin'));
}

function find(program: Program): string | undefined {
  const folders = [...postgresFolders(), ...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, program)).find(existsSync);
}

/** The paths of all programs; throws with the command that installs those that are missing. */
export function findPrograms(): Record<Program, string> {
  const names = Object.keys(packages) as Program[];
  const missing = names.filter((name) => find(name) === undefined).map((name) => packages[name]);
  if (missing.length > 0)
    throw new CannotRun(`Not installed: ${missing.join(', ')}. On Debian: apt-get install ${missing.join(' ')}`);
  return Object.fromEntries(names.map((name) => [name, find(name)!])) as Record<Program, string>;
}

type User = { uid: number; gid: number };

/** PostgreSQL, Patroni and PgBouncer refuse to be run by root. */
function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string): number => {
    try {
      return Number(execFileSync('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] }));
    } catch {
      return Number(execFileSync('id', [flag, 'nobody']));
    }
  };
  return { uid: idOf('-u'), gid: idOf('-g') };
}

export type Part = {
  readonly name: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
};

/** The processes of the cluster, with a folder for their data and logs. */
export class Parts {
  readonly folder = mkdtempSync(join(tmpdir(), 'wms-cluster-'));
  readonly #user = unprivilegedUser();
  readonly #running = new Set<Part>();

  constructor() {
    chmodSync(this.folder, 0o711);
  }

  /** A folder for one part, owned by the user who runs it. */
  folderFor(name: string): string {
    const folder = join(this.folder, name);
    mkdirSync(folder, { mode: 0o700 });
    if (this.#user) chownSync(folder, this.#user.uid, this.#user.gid);
    return folder;
  }

  start(name: string, [program, ...parameters]: string[], { env = {}, cwd = '/', asSelf = false } = {}): Part {
    const child = spawn(program!, parameters, {
      cwd,
      env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own: Ctrl-C reaches the parts through this process, in order.
      detached: true,
      ...(asSelf ? {} : this.#user),
    });
    const log = createWriteStream(join(this.folder, `${name}.log`), { flags: 'a' });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    const part: Part = { name, pid: child.pid!, child, ended: once(child, 'exit') };
    this.#running.add(part);
    void part.ended.then(() => this.#running.delete(part));
    return part;
  }

  /** The last that a part has said. */
  lastWords(name: string): string {
    const file = join(this.folder, `${name}.log`);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    return lines.slice(-12).join('\n');
  }

  /** Asks a part to end, and waits. */
  async stop(part: Part, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (!this.#running.has(part)) return;
    part.child.kill(signal);
    const timer = setTimeout(() => process.kill(-part.pid, 'SIGKILL'), 25_000);
    await part.ended;
    clearTimeout(timer);
  }

  /** Ends all parts, the last first, and removes their folder. */
  async stopAll(): Promise<void> {
    for (const part of [...this.#running].toReversed()) await this.stop(part);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
