import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import type { Caller } from '../load/job.ts';
import { endAll } from '../support/at-end.ts';
import { openCluster } from '../support/cluster.ts';
import { makeBed, type Bed } from '../support/database.ts';
import { startGenerator, type Generator } from '../support/generator.ts';
import { callersOf } from '../support/headers.ts';
import { describeMachine, machineInWords } from '../support/machine.ts';
import { startNode, type ServiceProcess } from '../support/service-process.ts';

/*
 * Whether jobs keep up with the writes that cause them, at the peak of a service with its worker: writes a second, how
 * many jobs wait when the last one is answered, and how long until they have run.
 */

const callsAtOnce = 32;
const [warmUpSeconds, seconds] = [3, 10];
const drainSecondsMax = 300;

const measured = {
  'assign-task': 'tasks of colleagues',
  'create-comment': 'comments on tasks of colleagues',
  'likes/spread': 'likes of comments of colleagues',
};

const report = (what: string): void => void process.stderr.write(`${what}\n`);

/** A company whose tasks have all its people as owners, so that many are notified, and nobody of everything. */
async function makeJobsBed(cluster: Awaited<ReturnType<typeof openCluster>>): Promise<Bed> {
  const sizes = { employees: 500, projects: 50, tasks: 5_000, comments: 25_000, notifications: 1, logs: 0 };
  const bed = await makeBed(cluster, { name: 'jobs', sizes, waitsForDisk: true, report });
  const { companyId, employees } = bed.world;
  await bed.client.query(
    `update tasks set owner_id = ${employees.first} + task_id % ${employees.count} where company_id = ${companyId}`,
  );
  await bed.client.query('delete from jobs');
  await bed.client.query('vacuum (analyze)');
  return bed;
}

async function countJobs(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from jobs where due_at <= now() and dead_lettered_at is null',
  );
  return rows[0]!.count;
}

/** Waits until all jobs that are due have run; returns the seconds. */
async function drain(client: pg.Client): Promise<number> {
  const start = performance.now();
  const elapsed = (): number => (performance.now() - start) / 1000;
  while ((await countJobs(client)) > 0) {
    if (elapsed() > drainSecondsMax) throw new Error(`jobs still wait after ${drainSecondsMax} seconds`);
    await delay(20);
  }
  return elapsed();
}

type Bench = { bed: Bed; service: ServiceProcess; generator: Generator; callers: Caller[] };

async function measure(operation: string, { bed, service, generator, callers }: Bench) {
  const { url } = service;
  const job = { url, operation, format: 'rest', callers, world: bed.world, connections: callsAtOnce } as const;
  await generator.run({ ...job, seconds: warmUpSeconds });
  await drain(bed.client);
  const { requests, requestsPerSecond, failures } = await generator.run({ ...job, seconds });
  if (failures > 0) throw new Error(`${operation}: ${failures} answers were no 200`);
  const waiting = await countJobs(bed.client);
  return { requests, requestsPerSecond, waiting, drainSeconds: await drain(bed.client) };
}

const cluster = await openCluster();
const machine = describeMachine(cluster.version);
let hasFailed = false;
try {
  console.log(`${machineInWords(machine)}; load average before: ${machine.loadBefore}`);
  const bed = await makeJobsBed(cluster);
  const keys = await generateKeys();
  const service = await startNode({ DATABASE_URL: bed.url, AUTH_KEYS: keys });
  const bench = { bed, service, generator: startGenerator(undefined), callers: await callersOf(bed.world, keys) };
  const line = (...cells: string[]): void =>
    console.log(cells.map((cell, column) => (column === 0 ? cell.padEnd(34) : cell.padStart(14))).join(''));
  line(`${callsAtOnce} at once`, 'writes', 'a second', 'jobs left', 'run after');
  for (const [operation, title] of Object.entries(measured)) {
    const { requests, requestsPerSecond, waiting, drainSeconds } = await measure(operation, bench);
    line(title, String(requests), requestsPerSecond.toFixed(0), String(waiting), `${drainSeconds.toFixed(2)} s`);
  }
} catch (error) {
  hasFailed = true;
  console.error(error instanceof Error ? error.message : error);
} finally {
  await endAll();
}
process.exit(hasFailed ? 1 : 0);
