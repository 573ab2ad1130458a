import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '../../server/startup/addresses.ts';
import { runOn } from './template.ts';

const run = promisify(execFile);
const versions = '/usr/lib/postgresql';
const newest = existsSync(versions) ? readdirSync(versions).toSorted((a, b) => Number(b) - Number(a))[0] : undefined;

/** Whether PostgreSQL's own programs are here, with which servers are started. */
export const hasPostgresPrograms = newest !== undefined;
const program = (name: string): string => join(versions, newest!, 'bin', name);
/** They refuse to be run by root. */
const asUser = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];

async function runProgram(name: string, parameters: string[]): Promise<void> {
  const [command, ...rest] = [...asUser, program(name), ...parameters];
  await run(command!, rest, { cwd: tmpdir() });
}

/** PostgreSQL and a standby that streams from it. */
export type Pair = {
  primaryUrl: string;
  standbyUrl: string;
  /** Makes a primary of the standby. */
  promote(): Promise<void>;
  /** Kills the standby. */
  killStandby(): Promise<void>;
  close(): Promise<void>;
};

export async function startPair(): Promise<Pair> {
  const folder = await mkdtemp(join(tmpdir(), 'wms-standby-'));
  await chmod(folder, 0o777);
  const [primary, standby] = [join(folder, 'primary'), join(folder, 'standby')];
  const ports = { primary: await findFreePort('127.0.0.1'), standby: await findFreePort('127.0.0.1') };
  const urlAt = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;

  const [primaryUrl, standbyUrl] = [urlAt(ports.primary), urlAt(ports.standby)];
  await runProgram('initdb', ['-D', primary, '-U', 'postgres', '-A', 'trust', '-N', '-E', 'UTF8', '--locale=C']);
  const settings = `listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nfsync = off\nshared_buffers = 16MB\n`;
  await appendFile(join(primary, 'postgresql.conf'), settings);
  const stopPrimary = await startServer(primary, ports.primary, primaryUrl);
  await runProgram('pg_basebackup', ['-d', primaryUrl, '-D', standby, '-R', '-N', '-c', 'fast']);
  const stopStandby = await startServer(standby, ports.standby, standbyUrl);
  return {
    primaryUrl,
    standbyUrl,
    promote: () => runProgram('pg_ctl', ['promote', '-D', standby]),
    killStandby: stopStandby,
    async close() {
      await stopStandby();
      await stopPrimary();
      await rm(folder, { recursive: true });
    },
  };
}

/** Starts a server, waits until it answers, and returns what kills it. */
async function startServer(data: string, port: number, url: string): Promise<() => Promise<void>> {
  const [command, ...parameters] = [...asUser, program('postgres'), '-D', data, '-p', String(port)];
  const child = spawn(command, parameters, { stdio: 'ignore', cwd: tmpdir(), detached: true });
  const ended = once(child, 'close');
  while (
    !(await runOn(url, 'select 1').then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL did not start in ${data}`);
    await delay(20);
  }
  return async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
    await ended;
  };
}
