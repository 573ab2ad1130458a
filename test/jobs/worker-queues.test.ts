import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { handlers } from '../../server/jobs/handlers.ts';
import { createWorker } from '../../server/jobs/worker.ts';
import { enqueueJob, jobHandler, queues } from '../../server/kernel/job.ts';
import type { Mailer } from '../../server/mail/mailer.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

const service = await startService();
const { database, clock, app, mailbox, anonymous } = service;

/** A provider that takes mail to the given addresses only when it is let go on. */
function holdUp(isHeld: (address: string) => boolean): { mailer: Mailer; held: string[]; letGo(): void } {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  const held: string[] = [];
  return {
    held,
    letGo,
    mailer: {
      async send(mail, options) {
        if (isHeld(mail.to)) {
          held.push(mail.to);
          await gate;
        }
        await mailbox.send(mail, options);
      },
    },
  };
}

function startWorker({ mailer, letGo }: { mailer: Mailer; letGo(): void }): void {
  const worker = createWorker({ ...app.services, mailer }, handlers);
  worker.start();
  onTestFinished(async () => {
    letGo();
    await worker.stop();
  });
}

const askForCodes = async (addresses: string[]) => {
  for (const email of addresses) await anonymous.post('/get-register-otp/', { email });
};

test('a provider that hangs with all that it was given delays no notification', async () => {
  const ada = await service.registerCompany();
  const grace = await service.addEmployee(ada);
  const { taskId } = await startWork(ada);
  await service.drain();
  const provider = holdUp((address) => address.startsWith('held'));
  startWorker(provider);
  const addresses = Array.from({ length: 30 }, (_, index) => `held${index}@example.com`);
  await askForCodes(addresses);
  await waitUntil(() => provider.held.length >= 3);

  await grace.post('/api/task-chats/', { taskId, sender: grace.employeeId, message: 'Look' });
  await waitFor(async () => {
    const { body } = await ada.get(`/notifications/unread-count/${ada.employeeId}/`);
    expect(body.unread).toBe(1);
  });
  expect(mailbox.mails.filter((mail) => mail.to.startsWith('held'))).toEqual([]);

  provider.letGo();
  await waitFor(() => expect(addresses.map((one) => mailbox.to(one).length)).toEqual(addresses.map(() => 1)));
});

test('one mail that hangs holds up no other mail', async () => {
  const provider = holdUp((address) => address === 'slow@example.com');
  await askForCodes(['slow@example.com']);
  startWorker(provider);
  await waitUntil(() => provider.held.length === 1);
  const addresses = Array.from({ length: 30 }, (_, index) => `quick${index}@example.com`);
  await askForCodes(addresses);
  await waitFor(() => expect(addresses.map((one) => mailbox.to(one).length)).toEqual(addresses.map(() => 1)));
  expect(mailbox.to('slow@example.com')).toEqual([]);
});

test('mail goes out one by one while the provider is quick, so that a kill can repeat one of them at most', async () => {
  let underWay = 0;
  let most = 0;
  const mailer: Mailer = {
    async send(mail, options) {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      await mailbox.send(mail, options);
      underWay -= 1;
    },
  };
  const addresses = Array.from({ length: 20 }, (_, index) => `single${index}@example.com`);
  await askForCodes(addresses);
  startWorker({ mailer, letGo: () => {} });
  await waitFor(() => expect(addresses.map((one) => mailbox.to(one).length)).toEqual(addresses.map(() => 1)));
  expect(most).toBe(1);
});

test('two workers at once run each job once', async () => {
  const ran: number[] = [];
  const counted = jobHandler({
    name: 'counted',
    payload: z.object({ number: z.int() }),
    run: async (_, { number }) => void ran.push(number),
  });
  const numbers = Array.from({ length: 60 }, (_, index) => index);
  for (const number of numbers)
    await enqueueJob(database.db, counted, { dedupeKey: String(number), payload: { number }, now: clock.now() });
  const workers = [0, 1].map(() => createWorker({ ...app.services, mailer: mailbox }, [counted]));
  await Promise.all(workers.map((worker) => worker.drain()));
  expect(ran.toSorted((a, b) => a - b)).toEqual(numbers);
  expect(workers.flatMap((worker) => worker.countAttempts()).reduce((sum, { count }) => sum + count, 0)).toBe(60);
});

test('a thousand wake-ups at once have the table read a few times at most', async () => {
  let readings = 0;
  const counting = { ...clock, now: () => ((readings += 1), clock.now()) };
  const worker = createWorker({ ...app.services, clock: counting, mailer: mailbox }, []);
  onTestFinished(() => worker.stop());
  worker.start();
  // Whoever reads a queue reads the clock twice: for what is due, and for the end of leases.
  const rounds = () => readings / (2 * queues.length);
  await waitUntil(() => rounds() >= 1);

  for (let count = 0; count < 1_000; count += 1) worker.wake();
  await waitUntil(() => rounds() >= 2);
  // By then the last of them would have come too: each comes within 80 ms.
  await delay(150);
  // One for all of them, and one for each second that this took.
  expect(rounds()).toBeLessThan(10);
});
