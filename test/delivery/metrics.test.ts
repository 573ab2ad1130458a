import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { startService } from '../support/service.ts';

const service = await startService();
const { database, clock, mailbox, stranger } = service;
beforeEach(async () => {
  await service.drain();
  await database.db.deleteFrom('deliveries').execute();
});

const metrics = async (): Promise<string> => (await stranger.get('/metrics')).body as string;

async function read(name: string): Promise<number | undefined> {
  const line = (await metrics()).split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

const insert = async (row: object) => {
  const now = clock.now();
  await database.db
    .insertInto('deliveries')
    .values({
      reaction: 'a',
      dedupe_key: `${Math.random()}`,
      payload: '{}',
      due_at: now,
      created_at: now,
      ...row,
    })
    .execute();
};
const ago = (minutes: number) => new Date(clock.now().getTime() - minutes * 60_000);

test('what waits is told apart from what is late, what is parked, and what is for later', async () => {
  expect([await read('deliveries{state="waiting"}'), await read('deliveries_oldest_waiting_seconds')]).toEqual([0, 0]);
  await insert({});
  await insert({ created_at: ago(5), due_at: ago(5) });
  await insert({ created_at: ago(30), due_at: ago(-10), attempts: 3, last_error: 'away' });
  await insert({ created_at: ago(60), due_at: ago(60), attempts: 35, parked_at: ago(1), last_error: 'away' });
  await insert({ created_at: ago(60), due_at: ago(-1000) });
  expect(await read('deliveries{state="waiting"}')).toBe(3);
  expect(await read('deliveries{state="late"}')).toBe(1);
  expect(await read('deliveries{state="parked"}')).toBe(1);
  expect(await read('deliveries_oldest_waiting_seconds')).toBeCloseTo(30 * 60, -2);
});

test('one that was planned for later has waited since it was due', async () => {
  await insert({ created_at: ago(24 * 60), due_at: ago(2) });
  expect(await read('deliveries_oldest_waiting_seconds')).toBeCloseTo(120, -2);
});

test('how tries end is counted by reaction', async () => {
  const count = async (outcome: string) =>
    (await read(`delivery_tries_total{reaction="send-code",outcome="${outcome}"}`)) ?? 0;
  const before = { done: await count('done'), failed: await count('failed') };
  mailbox.failNext(1);
  await stranger.post('/get-register-otp/', { email: 'a@example.com' });
  await service.drain();
  clock.advance({ minutes: 1 });
  await service.drain();
  expect({ done: await count('done'), failed: await count('failed') }).toEqual({
    done: before.done + 1,
    failed: before.failed + 1,
  });
  expect(await metrics()).toMatch(/^# TYPE delivery_tries_total counter$/m);
});

test('a database that hangs, or refuses, leaves out what is owed and nothing else', async () => {
  const holder = database.begin();
  await sql`lock table deliveries in access exclusive mode`.execute(holder.db);
  const hung = await Promise.all([metrics(), metrics()]).finally(() => holder.rollback());
  await sql`alter table deliveries rename to deliveries_away`.execute(database.db);
  const refused = await metrics();
  await sql`alter table deliveries_away rename to deliveries`.execute(database.db);
  for (const text of [...hung, refused]) {
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).toContain('delivery_tries_total{reaction="send-code"');
    expect(text).not.toMatch(/^deliveries(_oldest_waiting_seconds|\{)/m);
  }
  await expect.poll(() => read('deliveries{state="parked"}'), { timeout: 20_000 }).toBe(0);
});
