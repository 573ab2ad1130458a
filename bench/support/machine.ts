import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

/** Which cores do what. Servers have one for themselves, as if they ran on a machine with one. */
export type Pinning = { server: string; generator: string; database: string; says: string } | undefined;

/** Undefined where nothing can be pinned: one core, or no `taskset`. */
export function choosePinning(): Pinning {
  const allowed = spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' });
  const cores = allowed.status === 0 ? coresOf(/: ([\d,-]+)/.exec(allowed.stdout)?.[1] ?? '') : [];
  const [server, generator, ...rest] = cores.map(String);
  if (server === undefined || generator === undefined) return undefined;
  const database = rest.length === 0 ? generator : rest.join();
  const says =
    rest.length === 0
      ? `the side under test on core ${server}; load generator and PostgreSQL's connections together on core ${generator}`
      : `the side under test on core ${server}, the load generator on ${generator}, PostgreSQL's connections on ${database}`;
  return { server, generator, database, says };
}

/** `0,2-4` as numbers. */
function coresOf(list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [first = NaN, last = first] = part.split('-').map(Number);
    return Number.isNaN(first) ? [] : Array.from({ length: last - first + 1 }, (_, n) => first + n);
  });
}

/** A command on the given cores; as it is where nothing is pinned. */
export const pinned = (cores: string | undefined, command: string[]): string[] =>
  cores === undefined ? command : ['taskset', '-c', cores, ...command];

/** Moves processes to cores. A database server of another user's or another machine's stays where it is. */
export function pin(pids: number[], cores: string): boolean {
  const moves = pids.map((pid) => spawnSync('taskset', ['-cp', cores, String(pid)]).status === 0);
  return moves.some(Boolean);
}

/** Seconds of processor time that a process has taken; NaN where the system does not tell. */
export function cpuSecondsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
    // In hundredths of a second on every Linux.
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return NaN;
  }
}

/** Megabytes that a process holds in memory. */
export function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;
  } catch {
    return NaN;
  }
}

export type Machine = {
  cpu: string;
  cores: number;
  memoryGb: number;
  node: string;
  postgres: string;
  date: string;
  loadBefore: number;
};

export const machineInWords = ({ cpu, cores, node, postgres }: Machine): string =>
  `${cpu}, ${cores} cores, Node ${node}, PostgreSQL ${postgres}`;

export const describeMachine = (postgres: string): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  postgres,
  date: new Date().toISOString().slice(0, 16).replace('T', ' '),
  loadBefore: Number(loadavg()[0]!.toFixed(1)),
});
