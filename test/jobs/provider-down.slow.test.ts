import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { handlers } from '../../server/jobs/handlers.ts';
import { createWorker, type Worker } from '../../server/jobs/worker.ts';
import { createSendGridMailer } from '../../server/mail/sendgrid-mailer.ts';
import type { Actor } from '../support/actor.ts';
import { startSendGrid, type Behaviour, type SendGridServer } from '../support/sendgrid.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { waitUntil } from '../support/waiting.ts';

/* In one process and in the test's own clock; test/faults/mail-provider-down.test.ts does it with real processes. */

const apiKey = 'SG.the-key-of-a-test';
const service = await startService();
const { database, clock, app, anonymous } = service;
let ada: Actor;
let taskId: number;
beforeAll(async () => {
  ada = await service.registerCompany();
  ({ taskId } = await startWork(ada));
  await service.drain();
});

async function startProvider(
  options: { timeoutMs?: number; times?: { leaseMs: number; renewMs: number } } = {},
): Promise<{ provider: SendGridServer; worker: Worker }> {
  const provider = await startSendGrid(apiKey);
  onTestFinished(() => provider.close());
  const mailer = createSendGridMailer({
    apiKey,
    from: 'no-reply@example.com',
    baseUrl: provider.url,
    clock,
    timeoutMs: options.timeoutMs ?? 500,
  });
  return { provider, worker: createWorker({ ...app.services, mailer }, handlers, options.times) };
}

let round = 0;

/** Causes mail of each kind; answers what has to be sent to whom. */
async function causeMails(count: number): Promise<string[]> {
  round += 1;
  const expected: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const email = `person${round}-${number}@example.com`;
    const added = { first_name: 'Grace', last_name: 'Hopper', companyId: ada.companyId, email };
    const message = { taskId, sender: ada.employeeId, message: 'Look', mentionedEmails: [email] };
    for (const { status } of [
      await ada.post('/employee/add/', added),
      await ada.post('/api/task-chats/', message),
      await anonymous.post('/verify-email/', { email }),
      await anonymous.post('/reset/link/', { email }),
      await anonymous.post('/get-register-otp/', { email: `new-${email}` }),
    ])
      expect(status).toBe(200);
    expected.push(
      ...['invitation', 'mention', 'login-code', 'password-reset'].map((template) => `${template} to ${email}`),
      `registration-code to new-${email}`,
    );
  }
  return expected;
}

const byLetters = (a: string, b: string): number => a.localeCompare(b);
const arrivedAt = ({ taken }: SendGridServer): string[] =>
  taken.map(({ to, template }) => `${template} to ${to}`).toSorted(byLetters);
const countJobs = async () => (await database.db.selectFrom('jobs').select('job_id').execute()).length;

/** Every way to be down, in turn. */
const ways: Behaviour[] = [
  { kind: 'refuse', status: 500 },
  { kind: 'drop' },
  { kind: 'refuse', status: 429, headers: { 'retry-after': '20' } },
  { kind: 'refuse', status: 401, body: { errors: [{ message: `Bearer ${apiKey} is invalid`, field: null }] } },
  { kind: 'drop', status: 502 },
  { kind: 'refuse', status: 503 },
];

test('a provider that is down while mail is caused gets each of them once when it is back', async () => {
  const { provider, worker } = await startProvider();
  provider.behave((request) => (request % 20 === 0 ? { kind: 'drip' } : ways[request % ways.length]!));
  const expected = await causeMails(8);
  for (let tries = 0; tries < 4; tries += 1) {
    await worker.drain();
    clock.advance({ seconds: 30 });
  }
  expect(provider.taken).toEqual([]);
  expect(provider.countRequests()).toBeGreaterThan(2 * expected.length);
  expect(await countJobs()).toBe(expected.length);

  provider.behave({ kind: 'take' });
  clock.advance({ minutes: 2 });
  await worker.drain();
  expect(arrivedAt(provider)).toEqual(expected.toSorted(byLetters));
  expect(new Set(provider.taken.map((mail) => mail.idempotencyKey)).size).toBe(expected.length);
  expect(await countJobs()).toBe(0);
  expect(provider.problems).toEqual([]);

  // Neither the key nor a link's token nor a code has come into the log, however it failed.
  const log = service.log();
  expect(log).toContain('SendGrid answered 401. Check SENDGRID_API_KEY');
  expect(log).not.toContain(apiKey);
  for (const { text } of provider.taken) {
    for (const [token] of text.matchAll(/(?<=token=)\S+/g)) expect(log).not.toContain(token);
    for (const [code] of text.matchAll(/^\d{6}$/gm)) expect(log).not.toMatch(new RegExp(`(?<![\\d.])${code}(?!\\d)`));
  }
}, 60_000);

test('a worker that is gone in mid-send leaves nothing unsent, and one mail sent twice with one key', async () => {
  const leaseMs = 120_000;
  const gone = await startProvider({ timeoutMs: 600_000, times: { leaseMs, renewMs: 1_000_000_000 } });
  // It accepts the third mail, and the sender never learns that: as if its process had ended there.
  gone.provider.behave((request) => ({ kind: 'take', answerAfterMs: request === 3 ? 1_000_000 : 0 }));
  const expected = await causeMails(2);
  const heir = await startProvider({ times: { leaseMs, renewMs: 5_000 } });
  const drained = gone.worker.drain();
  await waitUntil(() => gone.provider.taken.length === 3);
  const stopped = gone.worker.stop();

  await heir.worker.drain();
  expect(await countJobs()).toBe(1);
  clock.advance({ ms: leaseMs + 1_000 });
  await heir.worker.drain();
  expect(await countJobs()).toBe(0);
  const taken = [...gone.provider.taken, ...heir.provider.taken];
  expect(taken).toHaveLength(expected.length + 1);
  expect(new Set(taken.map((mail) => mail.idempotencyKey)).size).toBe(expected.length);
  expect(new Set(taken.map(({ to, template }) => `${template} to ${to}`))).toEqual(new Set(expected));

  gone.provider.breakOff();
  await Promise.all([drained, stopped]);
  expect(await countJobs()).toBe(0);
});
