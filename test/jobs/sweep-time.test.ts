import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { createSweep } from '../../server/jobs/sweep.ts';
import { createTestClock } from '../support/clock.ts';
import { startService } from '../support/service.ts';

/* A sweep at a time that cannot be right would delete what is in use. */

const service = await startService();
const { database } = service;
const log = service.app.services.log;
await service.registerCompany();
const hourMs = 3_600_000;

/** A node whose clock is ahead of the others'. */
function startNode(ahead: { seconds?: number; days?: number } = {}) {
  const clock = createTestClock();
  clock.advance(ahead);
  const { run } = createSweep({
    database: service.app.services.database,
    clock,
    log,
    tokens: service.app.services.tokens,
  });
  return { clock, run };
}

const emails = async () =>
  (await database.db.selectFrom('one_time_codes').select('email').orderBy('email').execute()).map(({ email }) => email);
const insertCode = (email: string, expiresAt: Date) =>
  sql`
  insert into one_time_codes (email, purpose, code_hash, created_at, expires_at)
  values (${email}, 'login', 'hash', ${expiresAt}, ${expiresAt})`.execute(database.db);
const refusals = () => service.log().split('old rows were not deleted').length - 1;

beforeEach(async () => {
  await sql`delete from one_time_codes`.execute(database.db);
  await sql`update sweep_rounds set looked_at = ${new Date()}, doubted_since = null`.execute(database.db);
  await insertCode('used@example.com', new Date(Date.now() - hourMs));
  await insertCode('live@example.com', new Date(Date.now() + hourMs));
});

test('a node that is 25 seconds ahead sweeps, one that is 400 days ahead does not, and keeps no other from it', async () => {
  const [ahead, wrong, right] = [startNode({ seconds: 25 }), startNode({ days: 400 }), startNode()];
  await ahead.run();
  expect(await emails()).toEqual(['live@example.com']);
  const before = refusals();
  for (const round of [1, 2, 3]) {
    expect(await wrong.run()).toEqual({});
    expect(refusals()).toBe(before + round);
    await insertCode('used@example.com', new Date(Date.now() - hourMs));
    expect(await right.run()).toMatchObject({ one_time_codes: 1 });
  }
  expect(await emails()).toEqual(['live@example.com']);
  expect(service.log()).toContain('"doubtedSince"');
});

test('on a database without a sweep so far the last use of a session tells how late it can be', async () => {
  await sql`update sweep_rounds set looked_at = null`.execute(database.db);
  expect(await startNode({ days: 400 }).run()).toEqual({});
  expect(await emails()).toHaveLength(2);
});

test('after months without the service the time is believed once it has gone on in order for three days', async () => {
  const { clock, run } = startNode();
  clock.advance({ days: 100 });
  const swept: boolean[] = [];
  for (let hour = 0; hour <= 72; hour += 1) {
    swept.push(Object.keys(await run()).length > 0);
    clock.advance({ hours: 1 });
  }
  expect([swept.indexOf(true), await emails()]).toEqual([72, []]);
});

test('a second jump is no proof of the first one', async () => {
  const { clock, run } = startNode();
  for (const days of [400, 30, 30]) {
    clock.advance({ days });
    expect(await run()).toEqual({});
  }
  expect(await emails()).toHaveLength(2);
});

test('what an operator has confirmed is believed at once', async () => {
  const { clock, run } = startNode({ days: 400 });
  expect(await run()).toEqual({});
  await sql`update sweep_rounds set looked_at = ${clock.now()}, doubted_since = null`.execute(database.db);
  await run();
  expect(await emails()).toEqual([]);
});
