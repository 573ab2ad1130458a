import { sql } from 'kysely';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { createWorker, type Worker } from '../../server/delivery/worker.ts';
import { deliver, reaction } from '../../server/kernel/reaction.ts';
import { write } from '../../server/mail/letter.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { database, clock, app, mailbox } = service;
beforeEach(() => database.db.deleteFrom('deliveries').execute());

/** Long, so that a slow machine does not use it up; the clock goes over it. */
const leaseMs = 120_000;
const never = 1_000_000_000;
const patiently = { timeout: 20_000 };

/** A mail that a test lets go on when it likes: each run waits for a gate of its own. */
function makeGatedMail() {
  const runs: { open(): void }[] = [];
  const gatedMail = reaction({
    name: 'gated-mail',
    lane: 'mail',
    payload: z.object({ to: z.string() }),
    async run({ mailer }, { to }, { dedupeKey }) {
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      runs.push({ open });
      await gate;
      const letter = { subject: 'Hello', template: 'gated', paragraphs: [`Run for ${to}`], footnote: '' };
      await mailer.send(write(to, letter), { idempotencyKey: dedupeKey });
    },
  });
  const owe = (to: string) => deliver(database.db, gatedMail, { dedupeKey: to, payload: { to }, now: clock.now() });
  const worker = (renewMs: number): Worker => {
    const made = createWorker({ ...app.services, mailer: mailbox }, [gatedMail], { leaseMs, renewMs });
    onTestFinished(async () => {
      for (const run of runs) run.open();
      await made.stop();
    });
    return made;
  };
  return { runs, owe, worker };
}

const countOwed = async () => (await database.db.selectFrom('deliveries').select('delivery_id').execute()).length;

test('a delivery that runs far longer than its lease runs at one place only', async () => {
  const { runs, owe, worker } = makeGatedMail();
  await owe('long@example.com');
  const first = worker(10).drain();
  await vi.waitUntil(() => runs.length === 1, patiently);
  const other = worker(10);
  for (let round = 0; round < 6; round += 1) {
    clock.advance({ ms: leaseMs * 0.75 });
    await vi.waitFor(async () => {
      const { leased_until: until } = await database.db
        .selectFrom('deliveries')
        .select('leased_until')
        .executeTakeFirstOrThrow();
      expect(until!.getTime()).toBeGreaterThan(clock.now().getTime() + leaseMs / 2);
    }, patiently);
    await other.drain();
  }
  expect(runs).toHaveLength(1);
  runs[0]!.open();
  await first;
  expect(mailbox.to('long@example.com')).toHaveLength(1);
  expect(await countOwed()).toBe(0);
});

test('what a worker that died had begun is run by another when its lease is over, and not before', async () => {
  const { runs, owe, worker } = makeGatedMail();
  await owe('dead@example.com');
  // It never comes back to renew anything, as if it were gone.
  const dead = worker(never).drain();
  await vi.waitUntil(() => runs.length === 1, patiently);
  const heir = worker(10);
  clock.advance({ ms: leaseMs - 60_000 });
  await heir.drain();
  expect(runs).toHaveLength(1);

  clock.advance({ ms: 61_000 });
  const inherited = heir.drain();
  await vi.waitUntil(() => runs.length === 2, patiently);
  // It was not gone but frozen, and goes on: its lease is over, so it sends nothing and says nothing of the delivery.
  runs[0]!.open();
  await dead;
  expect(mailbox.to('dead@example.com')).toEqual([]);
  expect(service.log()).toContain('its lease ran out before it could be sent');
  const row = await database.db.selectFrom('deliveries').select(['attempts', 'last_error']).executeTakeFirstOrThrow();
  expect(row).toEqual({ attempts: 2, last_error: null });

  runs[1]!.open();
  await inherited;
  expect(mailbox.to('dead@example.com')).toHaveLength(1);
  expect(await countOwed()).toBe(0);
});

/** From now on, and until the answer is called, nothing can be deleted. */
async function refuseDeletes(): Promise<() => Promise<void>> {
  await sql`
    create or replace function refuse_delete() returns trigger language plpgsql as
      $$ begin raise exception 'the disk is full'; end $$`.execute(database.db);
  await sql`create trigger refuse before delete on deliveries execute function refuse_delete()`.execute(database.db);
  const allow = async () => void (await sql`drop trigger if exists refuse on deliveries`.execute(database.db));
  onTestFinished(allow);
  return allow;
}

test('what was sent and could not be crossed out at once is crossed out later, and not sent again', async () => {
  const { runs, owe, worker } = makeGatedMail();
  await owe('kept@example.com');
  const allow = await refuseDeletes();
  const drained = worker(10).drain();
  await vi.waitUntil(() => runs.length === 1, patiently);
  runs[0]!.open();
  await vi.waitUntil(() => mailbox.to('kept@example.com').length === 1, patiently);
  await allow();
  await drained;
  expect(await countOwed()).toBe(0);
  expect(mailbox.to('kept@example.com')).toHaveLength(1);
});

test('what could not be crossed out as long as its worker lived is sent once more, with the same key', async () => {
  const { runs, owe, worker } = makeGatedMail();
  await owe('twice@example.com');
  const allow = await refuseDeletes();
  const first = worker(10);
  const drained = first.drain();
  await vi.waitUntil(() => runs.length === 1, patiently);
  runs[0]!.open();
  await vi.waitUntil(() => mailbox.to('twice@example.com').length === 1, patiently);
  await first.stop();
  await drained;
  await allow();
  expect(await countOwed()).toBe(1);

  clock.advance({ ms: leaseMs + 1_000 });
  const again = worker(10).drain();
  await vi.waitUntil(() => runs.length === 2, patiently);
  runs[1]!.open();
  await again;
  expect(mailbox.to('twice@example.com')).toHaveLength(2);
  expect(await countOwed()).toBe(0);
});

test('what never came to its end, because its process ended each time, is parked after as many tries as others', async () => {
  const { runs, owe, worker } = makeGatedMail();
  await owe('deadly@example.com');
  await owe('harmless@example.com');
  await database.db
    .updateTable('deliveries')
    .set({ attempts: 35, leased_until: clock.now() })
    .where('dedupe_key', '=', 'gated-mail deadly@example.com')
    .execute();
  clock.advance({ ms: 1 });
  const drained = worker(10).drain();
  await vi.waitUntil(() => runs.length === 1, patiently);
  runs[0]!.open();
  await drained;
  expect(runs).toHaveLength(1);
  expect(mailbox.to('harmless@example.com')).toHaveLength(1);
  const left = await database.db.selectFrom('deliveries').select(['parked_at', 'last_error']).execute();
  expect(left).toEqual([{ parked_at: expect.any(Date), last_error: 'its last try never came to an end' }]);
});
