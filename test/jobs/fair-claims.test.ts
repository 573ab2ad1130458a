import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { createLeases } from '../../server/jobs/leases.ts';
import { startService } from '../support/service.ts';

/* Companies take turns, so that what one of them has caused delays nobody else's notifications. */

const service = await startService();
const { database, clock } = service;
beforeEach(() => database.db.deleteFrom('jobs').execute());

const leases = () => createLeases(service.app.services, { leaseMs: 20_000, renewMs: 1_000_000 });
const secondMs = 1_000;
const hourMs = 3_600_000;

/** Jobs of one company, or of none, the first of them due so long ago; each next one is due a millisecond later. */
const insertJobs = (companyId: number | null, count: number, dueForMs: number) =>
  sql`
  insert into jobs (handler, queue, dedupe_key, payload, due_at, created_at)
  select 'some', 'database', 'some ' || gen_random_uuid(), ${JSON.stringify({ companyId })}::jsonb,
    due_at + n * interval '1 millisecond', due_at
  from generate_series(1, ${count}::int) as n, (values (${new Date(clock.now().getTime() - dueForMs)}::timestamptz)) as v (due_at)
  order by n`.execute(database.db);

/** The companies of the jobs that are claimed next, with how many jobs each. */
async function claim(leasing: ReturnType<typeof leases>, count: number): Promise<Record<string, number>> {
  const jobs = await leasing.take('database', count);
  const companies = jobs.map(({ payload }) => String((payload as { companyId: number | null }).companyId));
  return Object.fromEntries([...Map.groupBy(companies, (one) => one)].map(([one, all]) => [one, all.length]));
}

test('one job of a company is claimed next, however many of another one wait before it', async () => {
  await insertJobs(1, 2_000, hourMs);
  await insertJobs(2, 1, secondMs);
  expect(await claim(leases(), 10)).toEqual({ 1: 9, 2: 1 });
});

test('also where jobs are claimed one by one, as mail is', async () => {
  await insertJobs(1, 2_000, hourMs);
  await insertJobs(2, 3, secondMs);
  await insertJobs(null, 3, secondMs);
  const leasing = leases();
  const claimed: Record<string, number>[] = [];
  for (let turn = 0; turn < 6; turn += 1) claimed.push(await claim(leasing, 1));
  expect(claimed).toEqual([{ 1: 1 }, { 2: 1 }, { null: 1 }, { 1: 1 }, { 2: 1 }, { null: 1 }]);
});

test('companies share what is claimed at once, and a claim is full where enough is due', async () => {
  await insertJobs(1, 100, hourMs);
  await insertJobs(2, 100, secondMs);
  await insertJobs(3, 1, secondMs);
  const leasing = leases();
  expect(await claim(leasing, 10)).toEqual({ 1: 6, 2: 3, 3: 1 });
  expect(await claim(leasing, 10)).toEqual({ 1: 5, 2: 5 });
});

test('within a company jobs are claimed in the order in which they are due', async () => {
  await insertJobs(1, 3, secondMs);
  await insertJobs(1, 3, hourMs);
  const { rows } = await sql<{ job_id: number }>`select job_id from jobs order by due_at limit 4`.execute(database.db);
  const jobs = await leases().take('database', 4);
  expect(jobs.map(({ jobId }) => jobId)).toEqual(rows.map(({ job_id: id }) => id).toSorted((a, b) => a - b));
});

test('companies whose jobs are planned for later keep nobody from a turn', async () => {
  for (let companyId = 1; companyId <= 250; companyId += 1) await insertJobs(companyId, 1, -hourMs);
  await insertJobs(400, 20, hourMs);
  await insertJobs(500, 1, secondMs);
  const leasing = leases();
  // The first claims look at so many companies and go on from there; what is due longest is claimed in any case.
  const turns = [await claim(leasing, 5), await claim(leasing, 5), await claim(leasing, 5)];
  expect(turns).toEqual([{ 400: 5 }, { 400: 5 }, { 400: 4, 500: 1 }]);
});

test('what is claimed is claimed once, and nothing is left out', async () => {
  for (const companyId of [1, 2, 3]) await insertJobs(companyId, 30, secondMs);
  const nodes = [leases(), leases(), leases()];
  const taken: number[] = [];
  for (let round = 0; round < 10; round += 1)
    for (const jobs of await Promise.all(nodes.map((node) => node.take('database', 5))))
      taken.push(...jobs.map(({ jobId }) => jobId));
  const { rows } = await sql<{ job_id: number }>`select job_id from jobs order by job_id`.execute(database.db);
  expect(taken.toSorted((a, b) => a - b)).toEqual(rows.map(({ job_id: id }) => id));
});
