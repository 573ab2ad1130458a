import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import { pinned } from './machine.ts';

/** The service as operators run it, in a process of its own, until it is stopped or the bench ends. */
export type ServiceProcess = { url: string; pid: number; stop(): Promise<void> };

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Starts it on the given cores, with flags for Node, with these settings and nothing else of this process' environment, and waits until it is ready. */
export async function startServiceProcess(
  environment: Record<string, string>,
  { cores, flags = [] }: { cores?: string | undefined; flags?: string[] } = {},
): Promise<ServiceProcess> {
  const { PATH, HOME } = process.env;
  const [program, ...parameters] = pinned(cores, [process.execPath, ...flags, 'server/main.ts']);
  const child = spawn(program!, parameters, {
    cwd: root,
    env: { PATH, HOME, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    await ended;
  }
  atEnd(stop);
  const url = await new Promise<string>((ready, failed) => {
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += String(chunk);
      const [, url] = /ready at (\S+)/.exec(said) ?? [];
      if (url !== undefined) ready(url);
    });
    void ended.then(() => failed(new Error(`the service ended before it was ready: ${said}`)));
  });
  return { url, pid: child.pid!, stop };
}

/** Starts it as one of the nodes of a cluster, on a folder of its own and without limits that the bench would meet. */
export async function startNode(
  environment: Record<string, string>,
  options?: Parameters<typeof startServiceProcess>[1],
): Promise<ServiceProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'wms-bench-'));
  atEnd(() => rm(folder, { recursive: true }));
  const settings = {
    NODE_ENV: 'production',
    PUBLIC_URL: 'http://127.0.0.1',
    APP_URL: 'http://127.0.0.1',
    ACCEPT_MAIL_FILE: 'true',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_PER_MINUTE: '100000000',
    DATA_DIR: folder,
  };
  return startServiceProcess({ ...settings, ...environment }, options);
}
