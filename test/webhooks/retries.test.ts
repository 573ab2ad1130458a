import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/waiting.ts';
import { startWork } from '../support/work.ts';
import { deliveriesOf, makeWebhook, say, startWithWebhooks } from './started.ts';

const service = await startWithWebhooks();
const { clock, app } = service;
const { drain } = app.webhookWorker;
const admin = await service.registerCompany();
const { taskId } = await startWork(admin);
const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
const dayMs = 24 * hourMs;

/** The documented delays between attempts. */
const delaysMs = [5 / 3600, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs);

test('tries ten times, in three days, and no earlier than documented', async () => {
  const receiver = await startReceiver((_, response) => void response.writeHead(500).end('broken'));
  const webhook = await makeWebhook(admin, receiver.url);
  await say(admin, taskId, 'Anybody?');
  await drain();
  for (const [index, delayMs] of delaysMs.entries()) {
    const [{ state, nextAttemptAt, attempts }] = await deliveriesOf(admin, webhook);
    expect([state, attempts.length, receiver.received.length]).toEqual(['pending', index + 1, index + 1]);
    const waitMs = Date.parse(nextAttemptAt) - Date.parse(attempts[index].at);
    expect(waitMs).toBeGreaterThanOrEqual(delayMs);
    expect(waitMs).toBeLessThan(delayMs * 1.1 + 3 * secondMs);
    // The clock goes on by itself.
    const marginMs = Math.min(delayMs / 2, 30 * secondMs);
    clock.advance({ ms: Date.parse(nextAttemptAt) - clock.now().getTime() - marginMs });
    await drain();
    expect(receiver.received).toHaveLength(index + 1);
    clock.advance({ ms: marginMs });
    await drain();
    expect(receiver.received).toHaveLength(index + 2);
  }
  const [delivery] = await deliveriesOf(admin, webhook);
  expect(delivery).toMatchObject({ state: 'failed', nextAttemptAt: null });
  expect(delivery.attempts).toHaveLength(10);
  expect(delivery.attempts[9]).toMatchObject({ status: 500, error: null, answer: 'broken' });
  clock.advance({ days: 1 });
  await drain();
  expect(receiver.received).toHaveLength(10);
  expect(new Set(receiver.received.map(({ id, text }) => `${id} ${text}`)).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10);
  await admin.delete(`/api/webhooks/${webhook._id}/`);
});

test.each<[string, () => string, number]>([
  ['seconds', () => '7200', 2 * hourMs],
  ['a moment', () => new Date(clock.now().getTime() + 3 * hourMs).toUTCString(), 3 * hourMs],
  ['more than a day', () => '9999999999', dayMs],
  ['less than the schedule', () => '1', 5 * secondMs],
  ['nonsense', () => 'soon', 5 * secondMs],
])('waits as Retry-After asks: %s', async (_name, retryAfter, expectedMs) => {
  const receiver = await startReceiver(
    (_, response) => void response.writeHead(503, { 'retry-after': retryAfter() }).end(),
  );
  const webhook = await makeWebhook(admin, receiver.url);
  await admin.post(`/api/webhooks/${webhook._id}/test/`);
  await drain();
  const [{ nextAttemptAt, attempts }] = await deliveriesOf(admin, webhook);
  const waitMs = Date.parse(nextAttemptAt) - Date.parse(attempts[0].at);
  expect(waitMs).toBeGreaterThanOrEqual(expectedMs - 2 * secondMs);
  expect(waitMs).toBeLessThan(expectedMs + 4 * secondMs);
  await admin.delete(`/api/webhooks/${webhook._id}/`);
});

test('a redirect is a failure, and nothing is sent to where it leads', async () => {
  const inside = await startReceiver();
  const receiver = await startReceiver((_, response) => void response.writeHead(302, { location: inside.url }).end());
  const webhook = await makeWebhook(admin, receiver.url);
  await admin.post(`/api/webhooks/${webhook._id}/test/`);
  await drain();
  expect((await deliveriesOf(admin, webhook))[0]).toMatchObject({ state: 'pending', attempts: [{ status: 302 }] });
  expect(inside.received).toEqual([]);
  await admin.delete(`/api/webhooks/${webhook._id}/`);
});

test('says why no answer came, without the URL or its address', async () => {
  const receiver = await startReceiver();
  const webhook = await makeWebhook(admin, `${receiver.url}?token=hidden`);
  await receiver.close();
  await admin.post(`/api/webhooks/${webhook._id}/test/`);
  await drain();
  expect((await deliveriesOf(admin, webhook))[0].attempts).toEqual([
    {
      at: expect.any(String),
      durationMs: expect.any(Number),
      status: null,
      error: 'No answer came: ECONNREFUSED',
      answer: null,
    },
  ]);
  expect(service.log()).not.toMatch(/token=hidden|127\.0\.0\.1:\d+\/hook/);
  await admin.delete(`/api/webhooks/${webhook._id}/`);
});

test('410 disables the webhook and tells the admins who have joined, once', async () => {
  const receiver = await startReceiver((_, response) => void response.writeHead(410).end());
  const webhook = await makeWebhook(admin, receiver.url);
  const other = await service.addEmployee(admin, { isAdmin: true });
  const plain = await service.addEmployee(admin);
  await Promise.all([say(admin, taskId, 'one'), say(admin, taskId, 'two')]);
  await drain();
  await service.drain();
  const read = async () => (await admin.get(`/api/webhooks/${webhook._id}/`)).body;
  expect(await read()).toMatchObject({ isEnabled: false, disabledBecause: 'gone' });
  const mails = service.mailbox.mails.filter(({ template }) => template === 'webhook-disabled');
  expect(mails.map(({ to }) => to).toSorted()).toEqual([admin.email, other.email].toSorted());
  expect(mails.map(({ to }) => to)).not.toContain(plain.email);
  expect(mails[0]!.text).toContain('it is gone (410)');
  expect(mails[0]!.text).not.toContain('/hook');
  await admin.patch(`/api/webhooks/${webhook._id}/`, { isEnabled: true });
  expect(await read()).toMatchObject({ isEnabled: true, disabledBecause: null, failingSince: null });
  await admin.delete(`/api/webhooks/${webhook._id}/`);
});

test('a late answer of the URL from before a change counts against no new one', async () => {
  const held: ServerResponse[] = [];
  const old = await startReceiver((_, response) => void held.push(response));
  const receiver = await startReceiver();
  for (const [status, failingSince] of [
    [410, null],
    [500, new Date(clock.now().getTime() - 6 * dayMs)],
  ] as const) {
    const webhook = await makeWebhook(admin, old.url);
    const path = `/api/webhooks/${webhook._id}/`;
    await service.database.db
      .updateTable('webhooks')
      .set({ failing_since: failingSince })
      .where('webhook_id', '=', webhook._id)
      .execute();
    await admin.post(`${path}test/`);
    const drained = drain();
    await waitUntil(() => held.length === 1);
    await admin.patch(path, { url: receiver.url });
    held.pop()!.writeHead(status).end();
    await drained;
    expect((await admin.get(path)).body).toMatchObject({ isEnabled: true, disabledBecause: null, failingSince: null });
    clock.advance({ seconds: 10 });
    await drain();
    expect((await deliveriesOf(admin, webhook))[0]).toMatchObject({ attempts: [{ status }, { status: 204 }] });
    await admin.delete(path);
  }
});

test('five days of failures disable it, and one success in them does not let them count', async () => {
  let status = 500;
  const receiver = await startReceiver((_, response) => void response.writeHead(status).end());
  const webhook = await makeWebhook(admin, receiver.url);
  const read = async () => (await admin.get(`/api/webhooks/${webhook._id}/`)).body;
  const send = async () => {
    await admin.post(`/api/webhooks/${webhook._id}/test/`);
    await drain();
  };
  await send();
  const { failingSince } = await read();
  expect(Date.parse(failingSince)).toBeCloseTo(clock.now().getTime(), -4);
  clock.advance({ days: 4 });
  await send();
  expect(await read()).toMatchObject({ isEnabled: true, failingSince });
  status = 204;
  clock.advance({ days: 2 });
  await send();
  expect(await read()).toMatchObject({ isEnabled: true, failingSince: null });
  status = 500;
  await send();
  clock.advance({ days: 4, hours: 23 });
  await send();
  expect(await read()).toMatchObject({ isEnabled: true });
  clock.advance({ hours: 2 });
  await send();
  expect(await read()).toMatchObject({ isEnabled: false, disabledBecause: 'failing' });
  await service.drain();
  expect(service.mailbox.mails.at(-1)).toMatchObject({
    template: 'webhook-disabled',
    text: expect.stringContaining('no message for five days'),
  });
  clock.advance({ days: 1 });
  receiver.received.length = 0;
  await drain();
  expect(receiver.received).toEqual([]);
});
