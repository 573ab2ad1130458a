import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { handlers } from '../../server/jobs/handlers.ts';
import { attemptsMax } from '../../server/jobs/retry.ts';
import { createWorker, type Worker } from '../../server/jobs/worker.ts';
import { enqueueJob, jobHandler } from '../../server/kernel/job.ts';
import { MailNotTaken, type Mailer } from '../../server/mail/mailer.ts';
import type { Actor } from '../support/actor.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { database, clock, app, mailbox, anonymous } = service;
let grace: Actor;
let ada: Actor;
beforeAll(async () => {
  ada = await service.registerCompany();
  grace = await service.addEmployee(ada);
});
beforeEach(async () => {
  await service.drain();
  await database.db.deleteFrom('jobs').execute();
});

/** The service's worker with a provider that refuses, until it is mended, in the given way. */
function makeProvider(error: Error): { worker: Worker; sends(): number; mend(): void } {
  let isMended = false;
  let sends = 0;
  const mailer: Mailer = {
    async send(mail, options) {
      sends += 1;
      if (!isMended) throw error;
      await mailbox.send(mail, options);
    },
  };
  return {
    worker: createWorker({ ...app.services, mailer }, handlers),
    sends: () => sends,
    mend: () => void (isMended = true),
  };
}

const invite = async () => {
  const email = `invited${mailbox.mails.length}${Math.random()}@example.com`;
  const { status } = await ada.post('/employee/add/', {
    first_name: 'Joan',
    last_name: 'Clarke',
    companyId: ada.companyId,
    email,
  });
  expect(status).toBe(200);
  return email;
};

const listJobs = () =>
  database.db
    .selectFrom('jobs')
    .select(['job_id', 'handler', 'attempts', 'dead_lettered_at', 'last_error', 'leased_until'])
    .orderBy('job_id')
    .execute();

/** Lets that many hours go by, with a run every ten minutes of the jobs that are due. */
async function livethrough(worker: Worker, hours: number): Promise<void> {
  for (let minutes = 0; minutes < hours * 60; minutes += 10) {
    clock.advance({ minutes: 10 });
    await worker.drain();
  }
}

describe('a mail', () => {
  test('is still sent by a provider that was away for 17 hours', async () => {
    const { worker, sends, mend } = makeProvider(new MailNotTaken('SendGrid could not be reached'));
    const email = await invite();
    await worker.drain();
    await livethrough(worker, 17);
    expect(sends()).toBeGreaterThan(15);
    mend();
    await livethrough(worker, 1.5);
    expect(mailbox.to(email)).toHaveLength(1);
    expect(await listJobs()).toEqual([]);
  });

  test('is dead-lettered after its last attempt, which the log reports as an error, and not retried', async () => {
    const { worker, sends } = makeProvider(new MailNotTaken('SendGrid answered 500.'));
    const email = await invite();
    await worker.drain();
    await livethrough(worker, 33);
    expect(sends()).toBe(attemptsMax);
    expect(await listJobs()).toMatchObject([
      {
        attempts: attemptsMax,
        dead_lettered_at: expect.any(Date),
        last_error: 'SendGrid answered 500.',
        leased_until: null,
      },
    ]);
    expect(mailbox.to(email)).toEqual([]);
    const told = service
      .log()
      .split('\n')
      .filter((line) => line.includes('a job was dead-lettered'))
      .map((line) => JSON.parse(line) as { level: number; msg: string; handler: string });
    expect(told.at(-1)).toMatchObject({
      level: 50,
      handler: 'send-invitation',
      msg: expect.stringContaining('npm run'),
    });
    expect(worker.countAttempts()).toEqual([
      { handler: 'send-invitation', outcome: 'failed', count: attemptsMax - 1 },
      { handler: 'send-invitation', outcome: 'dead_lettered', count: 1 },
    ]);
  });

  test('that is refused for what it is, is dead-lettered after three attempts', async () => {
    const { worker, sends } = makeProvider(new MailNotTaken('SendGrid answered 400.', { isRefused: true }));
    await invite();
    await worker.drain();
    await livethrough(worker, 1);
    expect(sends()).toBe(3);
    expect(await listJobs()).toMatchObject([{ attempts: 3, dead_lettered_at: expect.any(Date) }]);
  });

  test('is not retried before the time that the provider asked for', async () => {
    const { worker, sends, mend } = makeProvider(
      new MailNotTaken('SendGrid answered 429.', { retryAfterMs: 30 * 60_000 }),
    );
    const email = await invite();
    await worker.drain();
    mend();
    clock.advance({ minutes: 25 });
    await worker.drain();
    expect(sends()).toBe(1);
    clock.advance({ minutes: 6 });
    await worker.drain();
    expect(mailbox.to(email)).toHaveLength(1);
  });
});

describe('what would be too late', () => {
  const down = () => makeProvider(new MailNotTaken('SendGrid could not be reached'));

  test.each([
    ['sign-in code', '/verify-email/', 9, 11],
    ['registration code', '/get-register-otp/', 9, 11],
    ['reset link', '/reset/link/', 29, 31],
  ])('a %s is sent in its time', async (_, path, inTime) => {
    const { worker, mend } = down();
    const before = mailbox.to(grace.email).length;
    await anonymous.post(path, { email: grace.email });
    await worker.drain();
    mend();
    clock.advance({ minutes: inTime });
    await worker.drain();
    expect(mailbox.to(grace.email)).toHaveLength(before + 1);
    clock.advance({ hours: 1 });
  });

  test.each([
    ['sign-in code', '/verify-email/', 11],
    ['registration code', '/get-register-otp/', 11],
    ['reset link', '/reset/link/', 31],
  ])('a %s is dropped after its time, and not dead-lettered', async (_, path, tooLate) => {
    const { worker, sends, mend } = down();
    const before = mailbox.to(grace.email).length;
    await anonymous.post(path, { email: grace.email });
    await worker.drain();
    expect(sends()).toBe(1);
    mend();
    clock.advance({ minutes: tooLate });
    await worker.drain();
    expect(mailbox.to(grace.email)).toHaveLength(before);
    expect(await listJobs()).toEqual([]);
    expect(sends()).toBe(1);
    clock.advance({ hours: 1 });
  });

  test('a code that comes late in its time is good for as long as its mail says', async () => {
    const { worker, mend } = down();
    await anonymous.post('/verify-email/', { email: grace.email });
    await worker.drain();
    mend();
    clock.advance({ minutes: 9 });
    await worker.drain();
    clock.advance({ minutes: 9 });
    const { status } = await anonymous.post('/otp-login/', { email: grace.email, otp: mailbox.lastCode(grace.email) });
    expect(status).toBe(200);
  });
});

test('jobs that cannot succeed are dead-lettered one by one, and delay no other', async () => {
  const [unreadable, thrown] = ['unreadable', 'thrown'].map((name) =>
    jobHandler({
      name,
      payload: z.object({ number: z.int() }),
      run: async () => {
        throw new Error('with a \u0000, a\nline break and a half \ud83e character');
      },
    }),
  );
  const now = clock.now();
  await enqueueJob(database.db, thrown!, { dedupeKey: '1', payload: { number: 1 }, now });
  const row = { due_at: now, created_at: now, queue: 'database' };
  await database.db
    .insertInto('jobs')
    .values([
      { ...row, handler: 'unreadable', dedupe_key: 'a', payload: '{"number": "seven"}' },
      { ...row, handler: 'unreadable', dedupe_key: 'b', payload: 'null' },
      { ...row, handler: 'unheard-of', dedupe_key: 'c', payload: '{}' },
    ])
    .execute();
  const email = await invite();
  const worker = createWorker({ ...app.services, mailer: mailbox }, [...handlers, unreadable!, thrown!]);
  await worker.drain();
  expect(mailbox.to(email)).toHaveLength(1);

  await livethrough(worker, 33);
  const left = await listJobs();
  expect(left.map(({ handler: name, attempts, last_error: error }) => [name, attempts, error])).toEqual([
    ['thrown', attemptsMax, expect.stringMatching(/^with a , a line break and a half .+ character$/)],
    ['unreadable', attemptsMax, expect.stringContaining('number')],
    ['unreadable', attemptsMax, expect.stringContaining('type object')],
    ['unheard-of', attemptsMax, 'this version has no job handler called unheard-of'],
  ]);
  expect(left.every((one) => one.dead_lettered_at !== null)).toBe(true);
});
