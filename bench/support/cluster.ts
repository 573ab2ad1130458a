import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { atEnd } from './at-end.ts';

/** A PostgreSQL server on which databases may be made; one of the bench's own ends with it. */
export type Cluster = { url: string; version: string; isOwn: boolean };

const given = process.env['BENCH_DATABASE_URL'];
const usual = 'postgres://postgres@127.0.0.1:5432/postgres';

/** The server at BENCH_DATABASE_URL, else the usual one of this machine, else one of its own for the time of the run. */
export async function openCluster(): Promise<Cluster> {
  const url = given ?? usual;
  const version = await versionOf(url);
  if (version !== undefined) return { url, version, isOwn: false };
  if (given !== undefined) throw new Error('BENCH_DATABASE_URL does not answer, or its role may create no databases.');
  return startOwn();
}

/** Undefined where nobody answers, or one who may not seed. */
async function versionOf(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; may: boolean }>(
      `select current_setting('server_version') as version, rolsuper or rolcreatedb as may from pg_roles where rolname = current_user`,
    );
    return rows[0]?.may ? rows[0].version : undefined;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Where PostgreSQL's programs are: Debian keeps them off the PATH, one folder for each version. */
export function findProgram(name: string): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.map((folder) => join(folder, name)).find(existsSync);
}

async function startOwn(): Promise<Cluster> {
  const [initdb, control] = [findProgram('initdb'), findProgram('pg_ctl')];
  if (!initdb || !control)
    throw new Error(
      'No PostgreSQL answers and none is installed: install one (Debian: postgresql), or set BENCH_DATABASE_URL.',
    );
  const folder = mkdtempSync(join(tmpdir(), 'wms-bench-'));
  // PostgreSQL refuses to be run by root.
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? unprivilegedUser() : undefined;
  const run = (program: string, parameters: string[]): void => {
    const command = user === undefined ? [program] : ['runuser', '-u', user, '--', program];
    execFileSync(command[0]!, [...command.slice(1), ...parameters], { cwd: '/', stdio: 'ignore' });
  };
  if (user !== undefined) await chown(folder, Number(execFileSync('id', ['-u', user])), -1);
  const data = join(folder, 'data');
  const port = await findFreePort();
  run(initdb, ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync']);
  const settings = `-p ${port} -c unix_socket_directories= -c listen_addresses=127.0.0.1`;
  run(control, ['-D', data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start']);
  atEnd(() => {
    run(control, ['-D', data, '-m', 'immediate', 'stop']);
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return { url, version: (await versionOf(url)) ?? 'unknown', isOwn: true };
}

function unprivilegedUser(): string {
  try {
    execFileSync('id', ['postgres'], { stdio: 'ignore' });
    return 'postgres';
  } catch {
    return 'nobody';
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer();
  const port = await new Promise<number>((resolve) =>
    probe.listen(0, '127.0.0.1', () => resolve((probe.address() as AddressInfo).port)),
  );
  await new Promise((closed) => probe.close(closed));
  return port;
}
