import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openServer, type Database, type Db } from '../../db/open.ts';
import { createCaller } from '../support/actor.ts';
import { readMails } from '../support/mail-file.ts';
import { asOneOfSeveral, endAllProcesses, makeHome, startProcess, type Home } from '../support/process.ts';
import { waitUntil } from '../support/waiting.ts';

const secondMs = 1_000;
const dayMs = 86_400_000;

/** Has a process see a wall clock that is wrong by so much, from its first line on. */
function withWrongClock(ms: number): { NODE_OPTIONS: string } {
  const source = `
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { super(...(given.length === 0 ? [Real.now() + ${ms}] : given)); }
      static now() { return Real.now() + ${ms}; }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}

describe.skipIf(inject('template').kind === 'embedded')('nodes whose clocks are wrong', () => {
  let home: Home;
  let database: Database;
  let db: Db;
  // Not outside of a hook: what stands there runs also where the tests are skipped.
  beforeAll(async () => {
    home = await makeHome();
    database = openServer(home.databaseUrl!);
    ({ db } = database);
  });
  afterAll(async () => {
    await endAllProcesses();
    await database.close();
    await home.remove();
  });
  const timeOfDatabase = async () =>
    (await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)).rows[0]!.now.getTime();

  test('write the time of the database, and send each mail once', async () => {
    const environment = { ...home.environment, ...asOneOfSeveral };
    const startedAt = await timeOfDatabase();
    // Their first start makes keys and mail file, which they share.
    const first = await startProcess({ ...environment, ...withWrongClock(25 * secondMs) });
    const second = await startProcess({ ...environment, ...withWrongClock(400 * dayMs) });
    const addresses = Array.from({ length: 10 }, (_, nth) => `person${nth}@example.com`);
    for (const [nth, email] of addresses.entries())
      await createCaller([first, second][nth % 2]!.url).post('/get-register-otp/', { email });

    const mails = () => readMails(join(home.folder, 'mail.jsonl'));
    const isDone = async () => (await db.selectFrom('jobs').select('job_id').execute()).length === 0;
    await waitUntil(isDone, { timeout: 60_000 });
    expect(
      mails()
        .map(({ to }) => to)
        .toSorted(),
    ).toEqual(addresses);
    const codes = await db.selectFrom('one_time_codes').select('created_at').execute();
    const moments = [...codes.map((code) => code.created_at.getTime()), ...mails().map(({ at }) => Date.parse(at))];
    expect(moments).toHaveLength(20);
    expect(Math.min(...moments)).toBeGreaterThan(startedAt - secondMs);
    expect(Math.max(...moments)).toBeLessThan((await timeOfDatabase()) + secondMs);
    expect(second.stdout()).toContain('the clock of this machine is not that of the database');
  });
});
