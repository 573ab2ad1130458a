import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { findFreePort } from '../../server/startup/addresses.ts';

/** PgBouncer in front of a server, with the settings that docs/operations.md shows. */
export type PgBouncer = {
  /** The given URL, by way of the pooler. */
  url: string;
  close(): Promise<void>;
};

const page = fileURLToPath(new URL('../../docs/operations.md', import.meta.url));
const program = '/usr/sbin/pgbouncer';

/** Whether PgBouncer can be run here. */
export const hasPgBouncer = spawnSync(program, ['--version']).status === 0;

/** Starts PgBouncer on a free port, with those settings as `edit` leaves them. */
export async function startPgBouncer(target: string, edit = (ini: string) => ini): Promise<PgBouncer> {
  const server = new URL(target);
  const url = new URL(target);
  const port = await findFreePort('127.0.0.1');
  [url.hostname, url.port] = ['127.0.0.1', String(port)];
  const folder = await mkdtemp(join(tmpdir(), 'wms-pgbouncer-'));
  await writeFile(join(folder, 'users.txt'), `"${server.username}" "${server.password}"\n`);
  const settings: Record<string, string> = {
    listen_port: String(port),
    auth_type: 'trust',
    auth_file: join(folder, 'users.txt'),
    unix_socket_dir: '',
  };
  const shown = /```ini\n([\s\S]*?)```/.exec(await readFile(page, 'utf8'))![1]!;
  const ini = edit(shown)
    .replace('host=db.example.com port=5432', `host=${server.hostname} port=${server.port || 5432}`)
    .replace(/^(\w+) = .*$/gm, (line, name: string) => (name in settings ? '' : line));
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  await writeFile(join(folder, 'pgbouncer.ini'), `${ini}\n${lines.join('\n')}\n`);
  // It refuses to be run by root.
  await chmod(folder, 0o755);
  const asUser = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];
  const [command, ...parameters] = [...asUser, program, '-q', join(folder, 'pgbouncer.ini')];
  const child = spawn(command, parameters, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => void said.push(String(chunk)));
  const ended = once(child, 'close');
  await untilItAnswers(url.href, () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer did not start: ${said.join('')}`);
  });
  return {
    url: url.href,
    async close() {
      process.kill(-child.pid!, 'SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

async function untilItAnswers(url: string, check: () => void): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    const isUp = await client.connect().then(
      () => true,
      () => false,
    );
    if (isUp) return client.end();
    check();
    await delay(50);
  }
}
