import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { startService } from '../support/service.ts';

const service = await startService();
const { database, clock, mailbox, anonymous } = service;
beforeEach(async () => {
  await service.drain();
  await database.db.deleteFrom('jobs').execute();
});

const metrics = async (): Promise<string> => (await anonymous.get('/metrics')).body as string;

async function read(name: string): Promise<number | undefined> {
  const line = (await metrics()).split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

const insert = async (row: object) => {
  const now = clock.now();
  await database.db
    .insertInto('jobs')
    .values({
      handler: 'a',
      dedupe_key: `${Math.random()}`,
      payload: '{}',
      due_at: now,
      created_at: now,
      ...row,
    })
    .execute();
};
const ago = (minutes: number) => new Date(clock.now().getTime() - minutes * 60_000);

test('pending, late and dead-lettered jobs are counted apart, and jobs planned for later are not', async () => {
  expect([await read('jobs{state="pending"}'), await read('jobs_oldest_pending_seconds')]).toEqual([0, 0]);
  await insert({});
  await insert({ created_at: ago(5), due_at: ago(5) });
  await insert({ created_at: ago(30), due_at: ago(-10), attempts: 3, last_error: 'away' });
  await insert({ created_at: ago(60), due_at: ago(60), attempts: 35, dead_lettered_at: ago(1), last_error: 'away' });
  await insert({ created_at: ago(60), due_at: ago(-1000) });
  expect(await read('jobs{state="pending"}')).toBe(3);
  expect(await read('jobs{state="late"}')).toBe(1);
  expect(await read('jobs{state="dead_lettered"}')).toBe(1);
  expect(await read('jobs_oldest_pending_seconds')).toBeCloseTo(30 * 60, -2);
});

test('a job that was planned for later is pending since it was due', async () => {
  await insert({ created_at: ago(24 * 60), due_at: ago(2) });
  expect(await read('jobs_oldest_pending_seconds')).toBeCloseTo(120, -2);
});

test('attempts are counted by handler and outcome', async () => {
  const count = async (outcome: string) =>
    (await read(`job_attempts_total{handler="send-code",outcome="${outcome}"}`)) ?? 0;
  const before = { succeeded: await count('succeeded'), failed: await count('failed') };
  mailbox.failNext(1);
  await anonymous.post('/get-register-otp/', { email: 'a@example.com' });
  await service.drain();
  clock.advance({ minutes: 1 });
  await service.drain();
  expect({ succeeded: await count('succeeded'), failed: await count('failed') }).toEqual({
    succeeded: before.succeeded + 1,
    failed: before.failed + 1,
  });
  expect(await metrics()).toMatch(/^# TYPE job_attempts_total counter$/m);
});

test('a database that hangs, or refuses, leaves out the counts of jobs and nothing else', async () => {
  const holder = database.begin();
  await sql`lock table jobs in access exclusive mode`.execute(holder.db);
  const hung = await Promise.all([metrics(), metrics()]).finally(() => holder.rollback());
  await sql`alter table jobs rename to jobs_away`.execute(database.db);
  const refused = await metrics();
  await sql`alter table jobs_away rename to jobs`.execute(database.db);
  for (const text of [...hung, refused]) {
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).toContain('job_attempts_total{handler="send-code"');
    expect(text).not.toMatch(/^jobs(_oldest_pending_seconds|\{)/m);
  }
  await expect.poll(() => read('jobs{state="dead_lettered"}')).toBe(0);
});
