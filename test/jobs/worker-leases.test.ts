import { sql } from 'kysely';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createWorker, type Worker } from '../../server/jobs/worker.ts';
import { enqueueJob, jobHandler } from '../../server/kernel/job.ts';
import { renderMail } from '../../server/mail/mail-template.ts';
import { startService } from '../support/service.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

const service = await startService();
const { database, clock, app, mailbox } = service;
beforeEach(() => database.db.deleteFrom('jobs').execute());

/** Long, so that a slow machine does not use it up; the clock goes over it. */
const leaseMs = 120_000;
const never = 1_000_000_000;
/** A mail that a test lets go on when it likes: each run waits for a gate of its own. */
function makeGatedMail() {
  const runs: { open(): void }[] = [];
  const gatedMail = jobHandler({
    name: 'gated-mail',
    queue: 'mail',
    payload: z.object({ to: z.string() }),
    async run({ mailer }, { to }, { dedupeKey }) {
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      runs.push({ open });
      await gate;
      const mail = { subject: 'Hello', template: 'gated', paragraphs: [`Run for ${to}`], footnote: '' };
      await mailer.send(renderMail(to, mail), { idempotencyKey: dedupeKey });
    },
  });
  const enqueue = (to: string) =>
    enqueueJob(database.db, gatedMail, { dedupeKey: to, payload: { to }, now: clock.now() });
  const worker = (renewMs: number): Worker => {
    const made = createWorker({ ...app.services, mailer: mailbox }, [gatedMail], { leaseMs, renewMs });
    onTestFinished(async () => {
      for (const run of runs) run.open();
      await made.stop();
    });
    return made;
  };
  return { runs, enqueue, worker };
}

const countJobs = async () => (await database.db.selectFrom('jobs').select('job_id').execute()).length;

test('a job that runs far longer than its lease runs at one place only', async () => {
  const { runs, enqueue, worker } = makeGatedMail();
  await enqueue('long@example.com');
  const first = worker(10).drain();
  await waitUntil(() => runs.length === 1);
  const other = worker(10);
  for (let round = 0; round < 6; round += 1) {
    clock.advance({ ms: leaseMs * 0.75 });
    await waitFor(async () => {
      const { leased_until: until } = await database.db
        .selectFrom('jobs')
        .select('leased_until')
        .executeTakeFirstOrThrow();
      expect(until!.getTime()).toBeGreaterThan(clock.now().getTime() + leaseMs / 2);
    });
    await other.drain();
  }
  expect(runs).toHaveLength(1);
  runs[0]!.open();
  await first;
  expect(mailbox.to('long@example.com')).toHaveLength(1);
  expect(await countJobs()).toBe(0);
});

test('a job of a worker that died is run by another one when its lease is over, and not before', async () => {
  const { runs, enqueue, worker } = makeGatedMail();
  await enqueue('dead@example.com');
  // It never comes back to renew anything, as if it were gone.
  const dead = worker(never).drain();
  await waitUntil(() => runs.length === 1);
  const heir = worker(10);
  clock.advance({ ms: leaseMs - 60_000 });
  await heir.drain();
  expect(runs).toHaveLength(1);

  clock.advance({ ms: 61_000 });
  const inherited = heir.drain();
  await waitUntil(() => runs.length === 2);
  // It was not gone but frozen, and goes on: its lease is over, so it sends nothing and writes nothing about the job.
  runs[0]!.open();
  await dead;
  expect(mailbox.to('dead@example.com')).toEqual([]);
  expect(service.log()).toContain('its lease ran out before it could be sent');
  const row = await database.db.selectFrom('jobs').select(['attempts', 'last_error']).executeTakeFirstOrThrow();
  expect(row).toEqual({ attempts: 2, last_error: null });

  runs[1]!.open();
  await inherited;
  expect(mailbox.to('dead@example.com')).toHaveLength(1);
  expect(await countJobs()).toBe(0);
});

/** From now on, and until the answer is called, nothing can be deleted. */
async function refuseDeletes(): Promise<() => Promise<void>> {
  await sql`
    create or replace function refuse_delete() returns trigger language plpgsql as
      $$ begin raise exception 'the disk is full'; end $$`.execute(database.db);
  await sql`create trigger refuse before delete on jobs execute function refuse_delete()`.execute(database.db);
  const allow = async () => void (await sql`drop trigger if exists refuse on jobs`.execute(database.db));
  onTestFinished(allow);
  return allow;
}

test('a job whose deletion fails at first is deleted later, and its mail not sent again', async () => {
  const { runs, enqueue, worker } = makeGatedMail();
  await enqueue('kept@example.com');
  const allow = await refuseDeletes();
  const drained = worker(10).drain();
  await waitUntil(() => runs.length === 1);
  runs[0]!.open();
  await waitUntil(() => mailbox.to('kept@example.com').length === 1);
  await allow();
  await drained;
  expect(await countJobs()).toBe(0);
  expect(mailbox.to('kept@example.com')).toHaveLength(1);
});

test('a job that could not be deleted while its worker lived sends its mail once more, with the same key', async () => {
  const { runs, enqueue, worker } = makeGatedMail();
  await enqueue('twice@example.com');
  const allow = await refuseDeletes();
  const first = worker(10);
  const drained = first.drain();
  await waitUntil(() => runs.length === 1);
  runs[0]!.open();
  await waitUntil(() => mailbox.to('twice@example.com').length === 1);
  await first.stop();
  await drained;
  await allow();
  expect(await countJobs()).toBe(1);

  clock.advance({ ms: leaseMs + 1_000 });
  const again = worker(10).drain();
  await waitUntil(() => runs.length === 2);
  runs[1]!.open();
  await again;
  expect(mailbox.to('twice@example.com')).toHaveLength(2);
  expect(await countJobs()).toBe(0);
});

test('a job whose process dies at each attempt is dead-lettered after as many attempts as others', async () => {
  const { runs, enqueue, worker } = makeGatedMail();
  await enqueue('deadly@example.com');
  await enqueue('harmless@example.com');
  await database.db
    .updateTable('jobs')
    .set({ attempts: 35, leased_until: clock.now() })
    .where('dedupe_key', '=', 'gated-mail deadly@example.com')
    .execute();
  clock.advance({ ms: 1 });
  const drained = worker(10).drain();
  await waitUntil(() => runs.length === 1);
  runs[0]!.open();
  await drained;
  expect(runs).toHaveLength(1);
  expect(mailbox.to('harmless@example.com')).toHaveLength(1);
  const left = await database.db.selectFrom('jobs').select(['dead_lettered_at', 'last_error']).execute();
  expect(left).toEqual([{ dead_lettered_at: expect.any(Date), last_error: 'its last attempt never came to an end' }]);
});
