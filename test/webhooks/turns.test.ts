import type { ServerResponse } from 'node:http';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { createDueMessages, type DueMessages } from '../../server/webhooks/due-messages.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/waiting.ts';
import { makeWebhook, startWithWebhooks, type Made } from './started.ts';

/* How endpoints take turns at the requests of one process. */

const service = await startWithWebhooks();
const admin = await service.registerCompany();
afterEach(async () => {
  const { body } = await admin.get(`/api/webhooks/company/${admin.companyId}/`);
  for (const { _id } of body.webhooks) await admin.delete(`/api/webhooks/${_id}/`);
});

const startMessages = (slots: number): DueMessages => createDueMessages(service.app.services, () => {}, slots);

/** A webhook with messages for it. Its receiver answers when the test likes, and at its end. */
async function startSlow(messages: number) {
  const held: ServerResponse[] = [];
  let isOver = false;
  const receiver = await startReceiver((_, response) => {
    if (isOver) response.writeHead(204).end();
    else held.push(response);
  });
  const release = () => held.splice(0).forEach((response) => response.writeHead(204).end());
  onTestFinished(() => {
    isOver = true;
    release();
  });
  const webhook = await makeWebhook(admin, receiver.url);
  await sendTests(webhook, messages);
  return { ...receiver, webhook, release };
}

async function sendTests(webhook: Made, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1)
    expect((await admin.post(`/api/webhooks/${webhook._id}/test/`)).status).toBe(200);
}

type Slow = Awaited<ReturnType<typeof startSlow>>;
const counts = (receivers: Slow[]) => receivers.map(({ received }) => received.length);
const waitForCounts = (receivers: Slow[], total: number) =>
  waitUntil(() => counts(receivers).reduce((sum, count) => sum + count) === total);

test('the last free request goes to an endpoint that may take a message, behind slow ones', async () => {
  const slow = [await startSlow(6), await startSlow(6)];
  const messages = startMessages(9);
  expect(await messages.start()).toBe(8);
  await waitForCounts(slow, 8);
  const quick = await startReceiver();
  await sendTests(await makeWebhook(admin, quick.url), 1);
  expect(await messages.start()).toBe(1);
  await waitUntil(() => quick.received.length === 1);
  expect(counts(slow)).toEqual([4, 4]);
});

test('a failing endpoint keeps no free request from others while its only one is on its way', async () => {
  const failing = await startSlow(2);
  await service.database.db
    .updateTable('webhooks')
    .set({ failing_since: service.clock.now() })
    .where('webhook_id', '=', failing.webhook._id)
    .execute();
  const messages = startMessages(2);
  expect(await messages.start()).toBe(1);
  const slow = await startSlow(1);
  expect(await messages.start()).toBe(1);
  await waitForCounts([failing, slow], 2);
  expect(counts([failing, slow])).toEqual([1, 1]);
});

test('each endpoint gets a message before any gets its second, and the next look begins behind the last', async () => {
  const receivers: Slow[] = [];
  for (let count = 0; count < 4; count += 1) receivers.push(await startSlow(4));
  const messages = startMessages(2);
  await messages.start();
  await waitForCounts(receivers, 2);
  expect(counts(receivers)).toEqual([1, 1, 0, 0]);
  const answered = messages.running();
  for (const receiver of receivers) receiver.release();
  await Promise.all(answered);
  await messages.start();
  await waitForCounts(receivers, 4);
  expect(counts(receivers)).toEqual([1, 1, 1, 1]);
});

test('more requests than endpoints are shared evenly', async () => {
  const receivers: Slow[] = [];
  for (let count = 0; count < 3; count += 1) receivers.push(await startSlow(4));
  await startMessages(7).start();
  await waitForCounts(receivers, 7);
  expect(counts(receivers).toSorted((a, b) => a - b)).toEqual([2, 2, 3]);
});
