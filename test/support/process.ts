import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { holdingItsResponses } from './held-responses.ts';
import { runOn, withDatabase } from './template.ts';
import { waitUntil } from './waiting.ts';

/** The service as an operator runs it: a process of its own, told by its environment alone. */
export type ServiceProcess = {
  pid: number;
  /** Where it listens, once it is ready. */
  url: string;
  stdout(): string;
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  /** As `| head` does once it has seen enough: from now on, nobody reads what it prints. */
  stopReading(): void;
  /** Resolves with the exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
};

type Environment = Record<string, string>;

/** What outlives a process: its data folder and, on a server, its database. */
export type Home = {
  folder: string;
  environment: Environment;
  /** The database server's URL, where there is one. */
  databaseUrl: string | undefined;
  remove(): Promise<void>;
};

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Where `npm start` keeps what Node has compiled. */
export const compileCache = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node') };
const running = new Set<ServiceProcess>();

/** A home whose database is migrated already, which takes most of a first start; with `isNew` the database is empty. */
export async function makeHome({ isNew = false } = {}): Promise<Home> {
  const template = inject('template');
  const folder = await mkdtemp(join(tmpdir(), 'wms-home-'));
  if (template.kind === 'embedded') {
    if (!isNew) cpSync(template.dataFolder, folder, { recursive: true });
    return {
      folder,
      environment: { DATA_DIR: folder },
      databaseUrl: undefined,
      remove: () => rm(folder, { recursive: true }),
    };
  }

  const name = `wms_test_${randomBytes(6).toString('hex')}`;
  await runOn(template.url, `create database ${name} ${isNew ? '' : template.copy}`);
  const databaseUrl = withDatabase(template.url, name);
  return {
    folder,
    environment: { DATA_DIR: folder, ...databaseSettings(template.poolerUrl, databaseUrl, name) },
    databaseUrl,
    async remove() {
      await rm(folder, { recursive: true });
      await runOn(template.url, `drop database ${name} with (force)`);
    },
  };
}

function databaseSettings(poolerUrl: string | undefined, databaseUrl: string, name: string): Environment {
  if (poolerUrl === undefined) return { DATABASE_URL: databaseUrl };
  return {
    DATABASE_URL: withDatabase(poolerUrl, name),
    DATABASE_POOLER: 'transaction',
    DATABASE_DIRECT_URL: databaseUrl,
  };
}

/** A port on which nothing listens, for a process that cannot say which one it took. */
export async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Starts a process and waits until it ends or `until` is in what it says. */
export async function launch(command: string[], environment: Environment, until?: string): Promise<ServiceProcess> {
  const [program, ...parameters] = command;
  const settings = { PORT: '0', DATABASE_ROW_SECURITY: 'true' };
  // Nothing of the tests' own environment but the way to programs may tell the service anything.
  const { PATH, HOME } = process.env;
  const child = spawn(program!, parameters, {
    cwd: root,
    env: { PATH, HOME, ...compileCache, ...settings, ...environment },
    stdio: 'pipe',
    // A process group of its own, to be ended as a whole.
    detached: true,
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => void (said.stdout += String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => void (said.stderr += String(chunk)));
  const launched: ServiceProcess = {
    pid: child.pid!,
    url: '',
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    signal: (name) => void child.kill(name),
    stopReading: () => child.stdout.destroy(),
    ended: once(child, 'close').then(([code, signal]) => {
      running.delete(launched);
      return (code ?? signal) as number | NodeJS.Signals;
    }),
  };
  running.add(launched);
  if (until === undefined) return launched;
  let hasEnded = false;
  void launched.ended.then(() => (hasEnded = true));
  await waitUntil(() => hasEnded || said.stdout.includes(until), { timeout: 150_000 });
  if (hasEnded) throw new Error(`the service did not start: ${said.stderr}${said.stdout}`);
  launched.url = /ready at (\S+)/.exec(said.stdout)?.[1] ?? '';
  return launched;
}

/** Starts the service and waits until it is ready. */
export async function startProcess(environment: Environment, command?: string[]): Promise<ServiceProcess> {
  const held = [process.execPath, ...holdingItsResponses.parameters, 'server/main.ts'];
  return launch(command ?? held, { ...holdingItsResponses.environment, ...environment }, 'ready at ');
}

/** Runs a command that is expected to end by itself, and answers what came of it. */
export async function runToEnd(
  environment: Environment,
  command: string[] = [process.execPath, 'server/main.ts'],
): Promise<{ code: number | NodeJS.Signals; stdout: string; stderr: string }> {
  const launched = await launch(command, environment);
  const code = await launched.ended;
  return { code, stdout: launched.stdout(), stderr: launched.stderr() };
}

/** For after a test file: no process is left behind, nor one that it started, however the tests went. */
export async function endAllProcesses(): Promise<void> {
  const left = [...running];
  for (const one of left) process.kill(-one.pid, 'SIGKILL');
  await Promise.all(left.map((one) => one.ended));
}

/** Settings of processes that a test starts several of, to do much at once. */
export const asOneOfSeveral = {
  SEED_DEMO: 'false',
  RATE_LIMIT_PER_MINUTE: '1000000',
  LOG_LEVEL: 'warn',
  // Other tests have processes on the same server, which takes a hundred by custom.
  DATABASE_CONNECTIONS: '8',
};
