import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Cluster } from '../support/cluster.ts';
import { residentMb } from '../support/machine.ts';
import { atEnd } from '../support/at-end.ts';
import { createDatabase } from '../support/new-database.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { median } from '../support/timing.ts';

/** The time until the service is ready, after an earlier start, and its memory then. */
export type StartUp = {
  database: string;
  readyMs: number;
  residentMb: number;
  readyMsMax: number;
  residentMbMax: number;
};

/** The settings of `npm start`: compiled code is cached between starts, and threads retain little freed memory. */
const asStarted = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url)),
  MALLOC_ARENA_MAX: '1',
};
const starts = 3;
/** The background work of a start is done by then. */
const restMs = 1_500;

async function startOnce(environment: Record<string, string>) {
  const begun = performance.now();
  const service = await startServiceProcess({ ...asStarted, ...environment });
  const readyMs = performance.now() - begun;
  await delay(restMs);
  const resident = residentMb(service.pid);
  await service.stop();
  return { readyMs, resident };
}

async function measure(environment: Record<string, string>) {
  // The first start makes the schema and the demo company.
  await startOnce(environment);
  const times = [];
  for (let start = 0; start < starts; start += 1) times.push(await startOnce(environment));
  return {
    readyMs: median(times.map(({ readyMs }) => readyMs)),
    residentMb: median(times.map(({ resident }) => resident)),
  };
}

export async function measureStartUp(cluster: Cluster, report: (what: string) => void): Promise<StartUp[]> {
  const folder = await mkdtemp(join(tmpdir(), 'wms-bench-start-'));
  atEnd(() => rm(folder, { recursive: true }));
  report('start-up on the embedded database');
  const embedded = await measure({ DATA_DIR: folder });
  report('start-up on PostgreSQL');
  const url = await createDatabase(cluster.url, `wms_bench_${process.pid}_start`);
  const server = await measure({ DATA_DIR: folder, DATABASE_URL: url });
  return [
    { database: 'embedded', ...embedded, readyMsMax: 3_000, residentMbMax: 450 },
    { database: 'PostgreSQL', ...server, readyMsMax: 3_000, residentMbMax: 180 },
  ];
}
