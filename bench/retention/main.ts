import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { openServer } from '../../db/open.ts';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import { createTokens } from '../../server/platform/tokens.ts';
import { createSweep } from '../../server/jobs/sweep.ts';
import { createLogger } from '../../server/platform/log.ts';
import { resultsFolder } from '../operations/result.ts';
import { endAll } from '../support/at-end.ts';
import { openCluster } from '../support/cluster.ts';
import { makeBed } from '../support/database.ts';
import { describeMachine } from '../support/machine.ts';
import { hourOfWork, people, perDay } from './hour.ts';

/*
 * A year of rows that expire, in minutes: each simulated hour writes what people of a company cause, and sweeps as the service does.
 * Printed by month: rows, megabytes, and dead rows before the vacuum of the day. They must not grow after the longest lifetime.
 *
 *   npm run bench:retention -- --days 365
 *
 * It needs a PostgreSQL server as `npm run bench` does, with the extension pgstattuple, and writes bench/results/retention.json.
 */
const { values } = parseArgs({ options: { days: { type: 'string', default: '365' } } });
const days = Number(values.days);
const hourMs = 3_600_000;
const begin = Date.parse('2026-01-01T00:00:00Z');
const swept = [
  'events',
  'event_streams',
  'jobs',
  'idempotent_answers',
  'sessions',
  'one_time_codes',
  'one_time_tokens',
  'used_identity_tokens',
  'account_devices',
  'apple_claims',
  'company_mornings',
  'sweep_rounds',
];

type Size = { rows: number; mb: number; dead: number };
type Month = { day: number; tables: Record<string, Size>; sweepMs: number };

async function sizeOf(client: pg.Client, table: string): Promise<Size> {
  const { rows } = await client.query<{ rows: number; bytes: number; dead: number }>(
    `select tuple_count::float as rows, pg_total_relation_size('${table}')::float as bytes, dead_tuple_count::float as dead
    from pgstattuple('${table}')`,
  );
  return { rows: rows[0]!.rows, mb: Number((rows[0]!.bytes / 1e6).toFixed(2)), dead: rows[0]!.dead };
}

const cluster = await openCluster();
const sizes = { employees: 1_000, projects: 200, tasks: 2_000, comments: 25_000, notifications: 20_000, logs: 100_000 };
try {
  const bed = await makeBed(cluster, { name: 'retention', sizes, waitsForDisk: false, report: () => {} });
  const { client, world } = bed;
  await client.query('create extension if not exists pgstattuple');
  await client.query("set session_replication_role = origin; set timezone = 'UTC'");
  await client.query('delete from sessions');
  const machine = describeMachine(cluster.version);
  await client.query('vacuum (analyze)');
  const bytesPerRow = await measureRows(client);

  let at = begin;
  const clock = { now: () => new Date(at) };
  const database = openServer(bed.url);
  const sweep = createSweep({
    database,
    clock,
    log: createLogger({ level: 'silent' }),
    tokens: await createTokens(await generateKeys()),
  });
  await client.query(hourOfWork);
  const months: Month[] = [];
  const startedAt = performance.now();
  const save = (day: number) => {
    const conditions =
      `${day} days of ${people} people, hourly sweeps, vacuum once a day; a day has ${perDay}. ` +
      'Dead rows are counted before the vacuum; sweepMs is the mean time of one sweep.';
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const result = { machine, conditions, seconds, sizes, bytesPerRow, months };
    writeFileSync(join(resultsFolder, 'retention.json'), `${JSON.stringify(result, null, 2)}\n`);
  };
  let sweptMs = 0;
  for (let day = 1; day <= days; day += 1) {
    for (let hour = 0; hour < 24; hour += 1) {
      at += hourMs;
      await client.query('select pg_temp.work_an_hour($1, $2, $3)', [world.companyId, world.employeeId, clock.now()]);
      const sweptAt = performance.now();
      await sweep.run();
      sweptMs += performance.now() - sweptAt;
    }
    if (day === 1 || day % 30 === 0 || day === days) {
      const entries = [];
      for (const table of swept) entries.push([table, await sizeOf(client, table)] as const);
      months.push({
        day,
        tables: Object.fromEntries(entries),
        sweepMs: Number((sweptMs / 24 / (day - (months.at(-1)?.day ?? 0))).toFixed(1)),
      });
      sweptMs = 0;
      print(months.at(-1)!);
      save(day);
    }
    // Autovacuum looks once a minute, and would look more often than this.
    await client.query(`vacuum (analyze) ${swept.join(', ')}`);
  }
  await sweep.stop();
  await database.close();
} finally {
  await endAll();
}

/** Bytes of a row with its indexes, for each table that was filled. */
async function measureRows(client: pg.Client): Promise<Record<string, { rows: number; bytes: number }>> {
  const { rows } = await client.query<{ name: string; count: number; bytes: number }>(`
    select relname as name, reltuples::float as count, pg_total_relation_size(oid)::float as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples >= 200 order by 1`);
  return Object.fromEntries(
    rows.map(({ name, count, bytes }) => [name, { rows: count, bytes: Math.round(bytes / count) }]),
  );
}

function print({ day, tables }: Month): void {
  const text = Object.entries(tables).map(
    ([table, { rows, mb, dead }]) => `${table} ${rows} / ${mb} MB / ${dead} dead`,
  );
  console.log(`day ${day}: ${text.join('; ')}`);
}
