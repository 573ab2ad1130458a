import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { CannotRun, findPrograms, Parts } from '../../deploy/cluster/programs.ts';
import { pgbouncerSettings } from '../../deploy/cluster/settings.ts';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import { findFreePort } from '../../server/startup/addresses.ts';
import type { Caller, Load } from '../load/job.ts';
import { operations } from '../operations/operations.ts';
import { atEnd, endAll } from '../support/at-end.ts';
import { openCluster } from '../support/cluster.ts';
import { makeBed, type Bed } from '../support/database.ts';
import { startGenerator, type Generator } from '../support/generator.ts';
import { callersOf } from '../support/headers.ts';
import { cpuSecondsOf, describeMachine, machineInWords } from '../support/machine.ts';
import { startNode, type ServiceProcess } from '../support/service-process.ts';
import { countWaits, type Waits } from './waits.ts';

/*
 * What a request costs in each part, with one, two and three nodes on the same PostgreSQL: processor time of the nodes, of
 * PgBouncer and of the database's sessions. Nothing is pinned, so throughput is that of the whole machine, load generators included; on
 * a machine with few cores only the costs say what more machines would bring.
 */

const nodesMax = 3;
const callsAtOnce = 32;
const [warmUpSeconds, seconds] = [2, 4];
const measured = ['me', 'list-comments', 'create-log'];

type Row = {
  operation: string;
  pooler: boolean;
  nodes: number;
  perSecond: number;
  p50: number;
  p99: number;
  /** Microseconds of processor time for each request. */
  cpuMicros: { nodes: number; pooler: number; database: number; generators: number };
  /** Processor time of all these parts in a second. */
  coresBusy: number;
  waits: Waits;
};

const report = (what: string): void => void process.stderr.write(`${what}\n`);

/** PgBouncer in front of the server. */
async function startPooler({ url }: Bed, program: string): Promise<{ url: string; pid: number }> {
  const parts = new Parts();
  atEnd(() => parts.stopAll());
  const server = new URL(url);
  const port = await findFreePort('127.0.0.1');
  const users = join(parts.folder, 'users.txt');
  writeFileSync(users, `"${server.username}" "${server.password}"\n`, { mode: 0o644 });
  const file = join(parts.folder, 'pgbouncer.ini');
  writeFileSync(file, pgbouncerSettings({ port, postgres: Number(server.port || 5432), users }), { mode: 0o644 });
  const { pid } = parts.start('pgbouncer', [program, '-q', file]);
  await delay(500);
  return { url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href, pid };
}

type Setup = { bed: Bed; nodes: ServiceProcess[]; generators: Generator[]; callers: Caller[]; poolerPid?: number };

async function measure(operation: string, { bed, nodes, generators, callers, poolerPid }: Setup): Promise<Row> {
  const load = (forSeconds: number): Promise<Load[]> =>
    Promise.all(
      nodes.map(({ url }, index) =>
        generators[index]!.run({
          url,
          operation,
          format: 'rest',
          callers,
          world: bed.world,
          connections: Math.ceil(callsAtOnce / nodes.length),
          seconds: forSeconds,
        }),
      ),
    );
  await load(warmUpSeconds);
  const sessions = await sessionsOf(bed);
  const cpu = () => ({
    nodes: sum(nodes.map(({ pid }) => cpuSecondsOf(pid))),
    pooler: poolerPid === undefined ? 0 : cpuSecondsOf(poolerPid),
    database: sum(sessions.map(cpuSecondsOf).filter((one) => !Number.isNaN(one))),
  });
  const [before, waiting] = [cpu(), countWaits(bed.client)];
  const loads = await load(seconds);
  const [after, waits] = [cpu(), await waiting.stop()];
  if (loads.some(({ failures }) => failures > 0)) throw new Error(`${operation}: not every answer was a 200`);

  const requests = sum(loads.map((one) => one.requests));
  const spent = {
    nodes: after.nodes - before.nodes,
    pooler: after.pooler - before.pooler,
    database: after.database - before.database,
    generators: sum(loads.map(({ generatorShare }) => generatorShare * seconds)),
  };
  const cpuMicros = Object.fromEntries(
    Object.entries(spent).map(([part, time]) => [part, Math.round((time * 1e6) / requests)]),
  ) as Row['cpuMicros'];
  return {
    operation: operations[operation]!.title,
    pooler: poolerPid !== undefined,
    nodes: nodes.length,
    perSecond: Math.round(sum(loads.map((one) => one.requestsPerSecond))),
    p50: Math.max(...loads.map(({ p50 }) => p50)),
    p99: Math.max(...loads.map(({ p99 }) => p99)),
    cpuMicros,
    coresBusy: sum(Object.values(spent)) / seconds,
    waits,
  };
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

async function sessionsOf({ client }: { client: pg.Client }): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  return rows.map(({ pid }) => pid);
}

function print(rows: Row[]): void {
  const head = [
    'operation',
    'pooler',
    'nodes',
    'a second',
    'p50 ms',
    'p99 ms',
    'µs node',
    'pooler',
    'database',
    'generator',
    'cores',
    'sessions wait for',
  ];
  const lines = rows.map(({ operation, pooler, nodes, perSecond, p50, p99, cpuMicros, coresBusy, waits }) => [
    operation,
    pooler ? 'PgBouncer' : '',
    String(nodes),
    String(perSecond),
    p50.toFixed(1),
    p99.toFixed(1),
    ...[cpuMicros.nodes, cpuMicros.pooler, cpuMicros.database, cpuMicros.generators].map(String),
    coresBusy.toFixed(2),
    waits
      .slice(0, 3)
      .map(({ event, sessions }) => `${event} ${sessions.toFixed(1)}`)
      .join(', '),
  ]);
  const widths = head.map((title, column) =>
    Math.max(...[head, ...lines].map((line) => line[column]!.length), title.length),
  );
  for (const line of [head, ...lines])
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
}

const cluster = await openCluster();
const machine = describeMachine(cluster.version);
let hasFailed = false;
try {
  const { pgbouncer } = findPrograms();
  console.log(`${machineInWords(machine)}; load average before: ${machine.loadBefore}`);
  const bed = await makeBed(cluster, {
    name: 'nodes',
    sizes: { employees: 1_000, projects: 50, tasks: 1_000, comments: 10_000, notifications: 1_000, logs: 10_000 },
    waitsForDisk: true,
    report,
  });
  await bed.client.query('vacuum (analyze)');
  const keys = await generateKeys();
  const callers = await callersOf(bed.world, keys);
  const generators = Array.from({ length: nodesMax }, () => startGenerator(undefined));
  const rows: Row[] = [];
  for (const isPooled of [false, true]) {
    const pooler = isPooled ? await startPooler(bed, pgbouncer) : undefined;
    const urls: Record<string, string> = pooler
      ? { DATABASE_URL: pooler.url, DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: bed.url }
      : { DATABASE_URL: bed.url };
    const nodes: ServiceProcess[] = [];
    while (nodes.length < nodesMax) {
      nodes.push(await startNode({ ...urls, AUTH_KEYS: keys }));
      for (const operation of measured) {
        report(`${operation} on ${nodes.length} nodes${isPooled ? ' behind PgBouncer' : ''}`);
        rows.push(
          await measure(operation, { bed, nodes, generators, callers, ...(pooler && { poolerPid: pooler.pid }) }),
        );
      }
    }
    await Promise.all(nodes.map((node) => node.stop()));
  }
  print(rows);
  const file = new URL(`../results/${machine.date.slice(0, 10)}-nodes.json`, import.meta.url);
  writeFileSync(
    file,
    `${JSON.stringify({ machine: { ...machine, loadAfter: Number(loadavg()[0]!.toFixed(1)) }, pinned: 'nothing', rows }, null, 2)}\n`,
  );
} catch (error) {
  hasFailed = true;
  console.error(error instanceof CannotRun ? error.message : error);
} finally {
  await endAll();
}
process.exit(hasFailed ? 1 : 0);
