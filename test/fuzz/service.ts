import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { runOn, withDatabase } from '../support/template.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readyWithinMs = 150_000;

export type FuzzedService = {
  url: string;
  mailFile: string;
  /** What its log says went wrong in a request. */
  causeOf(requestId: string): string | undefined;
  /** Lines of the log that are no request's. */
  strayErrors(): string[];
  stop(): Promise<void>;
};

/** Starts the service as an operator does, with a database of its own: embedded, or on the given server. */
export async function startFuzzed(serverUrl: string | undefined): Promise<FuzzedService> {
  const folder = await mkdtemp(join(tmpdir(), 'wms-fuzz-'));
  const database = `wms_fuzz_${randomBytes(6).toString('hex')}`;
  if (serverUrl !== undefined) await runOn(serverUrl, `create database ${database}`);
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['server/main.ts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH,
      HOME,
      PORT: '0',
      DATA_DIR: folder,
      SEED_DEMO: 'false',
      LOG_LEVEL: 'warn',
      // What one machine sends in a minute is more than anybody's; each request names a network of its own.
      RATE_LIMIT_PER_MINUTE: '100000000',
      TRUST_PROXY: '127.0.0.1',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
      ...(serverUrl === undefined ? {} : { DATABASE_URL: withDatabase(serverUrl, database) }),
    },
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => void (said += String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => void (said += String(chunk)));
  const ended = once(child, 'close');

  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true });
    if (serverUrl !== undefined) await runOn(serverUrl, `drop database ${database} with (force)`);
  }

  const until = performance.now() + readyWithinMs;
  while (!said.includes('ready at ') && child.exitCode === null && performance.now() < until) await wait(20);
  const url = /ready at (\S+)/.exec(said)?.[1];
  if (url === undefined) {
    await stop();
    throw new Error(`the service did not start: ${said}`);
  }

  type Line = { level?: number; requestId?: string; msg?: string; err?: { stack?: string; message?: string } };
  const lines = (): Line[] =>
    said
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line);
  return {
    url,
    mailFile: join(folder, 'mail.jsonl'),
    causeOf(requestId) {
      const found = lines().find((line) => line.requestId === requestId && line.err);
      return found?.err?.stack ?? found?.err?.message;
    },
    strayErrors: () =>
      lines()
        .filter(({ level = 0, requestId }) => level >= 50 && requestId === undefined)
        .map((line) => `${line.msg ?? ''} ${JSON.stringify(line.err ?? line)}`.slice(0, 1000)),
    stop,
  };
}
