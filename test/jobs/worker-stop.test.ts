import { expect, test } from 'vitest';
import { z } from 'zod';
import { createWorker } from '../../server/jobs/worker.ts';
import { enqueueJob, jobHandler } from '../../server/kernel/job.ts';
import { startService } from '../support/service.ts';
import { waitUntil } from '../support/waiting.ts';

const service = await startService();
const { database, clock, app, mailbox } = service;

test('a worker that is told to stop finishes what it has begun and leaves the rest for the next one', async () => {
  const ran: number[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const slow = jobHandler({
    name: 'slow',
    payload: z.object({ number: z.int() }),
    async run(_, { number }) {
      ran.push(number);
      await gate;
    },
  });
  for (let number = 1; number <= 50; number += 1)
    await enqueueJob(database.db, slow, { dedupeKey: String(number), payload: { number }, now: clock.now() });

  const worker = createWorker({ ...app.services, mailer: mailbox }, [slow]);
  worker.start();
  await waitUntil(() => ran.length > 0);
  const stopped = worker.stop();
  open();
  await stopped;
  const begun = ran.length;
  expect(begun).toBeLessThan(50);
  const left = await database.db.selectFrom('jobs').select(['attempts', 'leased_until']).execute();
  expect(left).toEqual(Array.from({ length: 50 - begun }, () => ({ attempts: 0, leased_until: null })));

  const next = createWorker({ ...app.services, mailer: mailbox }, [slow]);
  await next.drain();
  expect(new Set(ran).size).toBe(50);
  expect(ran).toHaveLength(50);
});
