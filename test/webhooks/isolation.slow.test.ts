import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { createWebhookWorker, type WebhookWorker } from '../../server/webhooks/worker.ts';
import { startReceiver } from '../support/receiver.ts';
import { startWork } from '../support/work.ts';
import { deliveriesOf, makeWebhook, say, startWithWebhooks } from './started.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

/* What a receiver cannot do to others, and what several processes do together. */

const service = await startWithWebhooks();
const { clock, app } = service;
const admin = await service.registerCompany();
const { taskId } = await startWork(admin);
/** No message waits for a receiver of an earlier test. */
afterEach(async () => {
  const { body } = await admin.get(`/api/webhooks/company/${admin.companyId}/`);
  for (const { _id } of body.webhooks) await admin.delete(`/api/webhooks/${_id}/`);
});

/** A worker of another process, as far as the database can tell. */
function otherWorker(): WebhookWorker {
  const worker = createWebhookWorker(app.services);
  onTestFinished(() => worker.stop());
  return worker;
}

/** A receiver that answers when the test likes. */
async function startHolding(status = 204) {
  const held: ServerResponse[] = [];
  const receiver = await startReceiver((_, response) => void held.push(response));
  const release = () => held.splice(0).forEach((response) => response.writeHead(status).end());
  const releaseAll = async (count: number) => {
    await waitUntil(() => {
      release();
      return receiver.received.length >= count;
    });
    release();
  };
  return { ...receiver, held, release, releaseAll };
}

async function sendTests(webhook: { _id: number }, count: number): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => admin.post(`/api/webhooks/${webhook._id}/test/`)),
  );
  expect(answers.every(({ status }) => status === 200)).toBe(true);
}

test('an endpoint has four requests in flight, whatever the number of processes, and gets each message once', async () => {
  const receiver = await startHolding();
  const webhook = await makeWebhook(admin, receiver.url);
  await sendTests(webhook, 30);
  const workers = [otherWorker(), otherWorker(), otherWorker()];
  const drained = Promise.all(workers.map((worker) => worker.drain()));
  await waitUntil(() => receiver.held.length === 4);
  await Promise.all([otherWorker(), otherWorker()].map(async (worker) => worker.start()));
  await delay(300);
  expect(receiver.held).toHaveLength(4);
  await receiver.releaseAll(30);
  await drained;
  expect(receiver.mostOpen()).toBe(4);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(30);
  expect(receiver.received).toHaveLength(30);
  await waitFor(async () => {
    const states = (await deliveriesOf(admin, webhook)).map((one: { state: string }) => one.state);
    expect(new Set(states)).toEqual(new Set(['delivered']));
  });
});

test('an endpoint that fails has one request in flight, until it takes a message', async () => {
  let status = 500;
  const receiver = await startReceiver((_, response) => setTimeout(() => void response.writeHead(status).end(), 50));
  const webhook = await makeWebhook(admin, receiver.url);
  const { drain } = otherWorker();
  await sendTests(webhook, 1);
  await drain();
  await sendTests(webhook, 6);
  await drain();
  expect([receiver.received.length, receiver.mostOpen()]).toEqual([7, 1]);
  status = 204;
  await sendTests(webhook, 9);
  await drain();
  expect([receiver.received.length, receiver.mostOpen()]).toEqual([16, 4]);
});

test('receivers that do not answer delay neither others, nor mail, nor notifications', async () => {
  const slow = await Promise.all(Array.from({ length: 5 }, () => startHolding()));
  const quick = await startReceiver();
  const worker = otherWorker();
  worker.start();
  for (const receiver of slow) await sendTests(await makeWebhook(admin, receiver.url, ['comment.deleted']), 20);
  await waitUntil(() => slow.every(({ held }) => held.length === 4));
  await makeWebhook(admin, quick.url, ['comment.created']);
  const begun = performance.now();
  await say(admin, taskId, 'quick');
  await waitUntil(() => quick.received.length === 1);
  await service.anonymous.post('/verify-email/', { email: admin.email });
  await service.drain();
  expect(service.mailbox.lastCode(admin.email)).toMatch(/^\d{6}$/);
  expect(performance.now() - begun).toBeLessThan(5_000);
  const releasing = setInterval(() => slow.forEach((receiver) => receiver.release()), 10);
  await worker.stop();
  clearInterval(releasing);
});

test('a message of a process that was killed is sent by another when its lease has ended, and a late answer is no outcome', async () => {
  const receiver = await startHolding(500);
  const webhook = await makeWebhook(admin, receiver.url);
  await sendTests(webhook, 1);
  const first = otherWorker().drain();
  await waitUntil(() => receiver.held.length === 1);
  const other = otherWorker();
  // The clock goes on by itself, so a slow machine has a margin.
  clock.advance({ seconds: 10 });
  await other.drain();
  expect(receiver.received).toHaveLength(1);
  clock.advance({ seconds: 21 });
  const second = other.drain();
  await waitUntil(() => receiver.held.length === 2);
  receiver.held.splice(1)[0]!.writeHead(204).end();
  await second;
  receiver.release();
  await first;
  const [delivery] = await deliveriesOf(admin, webhook);
  expect(delivery).toMatchObject({ state: 'delivered', attempts: [{ status: 204 }] });
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
});

test(
  'a shutdown waits five seconds for answers, and others then send at once what had none',
  { timeout: 30_000 },
  async () => {
    const receiver = await startHolding();
    const webhook = await makeWebhook(admin, receiver.url);
    await sendTests(webhook, 2);
    const worker = otherWorker();
    worker.start();
    await waitUntil(() => receiver.held.length === 2);
    const begun = performance.now();
    const stopped = worker.stop();
    receiver.held.shift()!.writeHead(204).end();
    await stopped;
    expect(performance.now() - begun).toBeLessThan(8_000);
    const deliveries = await deliveriesOf(admin, webhook);
    expect(deliveries.map((one: { state: string }) => one.state).toSorted()).toEqual(['delivered', 'pending']);
    expect(deliveries.flatMap((one: { attempts: unknown[] }) => one.attempts)).toHaveLength(1);
    const drained = otherWorker().drain();
    await receiver.releaseAll(3);
    await drained;
    expect(worker.countAttempts()).toEqual([
      { outcome: 'delivered', count: 1 },
      { outcome: 'released', count: 1 },
    ]);
  },
);

test(
  'an endpoint that never answers is given up after fifteen seconds, with its name server',
  { timeout: 60_000 },
  async () => {
    const silent = await startHolding();
    const hanging = await startWithWebhooks();
    hanging.app.services.outbound.resolve = () => new Promise(() => {});
    const theirs = await hanging.registerCompany();
    const answerless = await makeWebhook(admin, silent.url);
    await sendTests(answerless, 1);
    // The URL is stored without its check, which would wait for the name server too.
    const unnamed = { url: 'https://hooks.example.com', events: ['comment.created'] };
    hanging.app.services.outbound.resolve = async () => ['8.8.8.8'];
    const nameless = (await theirs.post('/api/webhooks/', unnamed)).body;
    hanging.app.services.outbound.resolve = () => new Promise(() => {});
    await theirs.post(`/api/webhooks/${nameless._id}/test/`);
    const begun = performance.now();
    await Promise.all([otherWorker().drain(), hanging.app.webhookWorker.drain()]);
    expect(performance.now() - begun).toBeLessThan(20_000);
    for (const [delivery] of [await deliveriesOf(admin, answerless), await deliveriesOf(theirs, nameless)])
      expect(delivery).toMatchObject({
        state: 'pending',
        attempts: [{ status: null, error: 'No whole answer came within 15 seconds' }],
      });
  },
);

test(
  'rotations, changes and deletions while messages are on their way end in no error',
  { timeout: 60_000 },
  async () => {
    const receiver = await startReceiver((_, response) => setTimeout(() => void response.writeHead(204).end(), 5));
    const worker = otherWorker();
    worker.start();
    for (let round = 0; round < 5; round += 1) {
      const webhook = await makeWebhook(admin, receiver.url);
      const path = `/api/webhooks/${webhook._id}/`;
      await Promise.all([
        ...Array.from({ length: 8 }, (_, index) => say(admin, taskId, `comment ${index}`)),
        admin.post(`${path}rotate-secret/`),
        admin.patch(path, { description: 'changed', events: ['comment.created'] }),
        admin.post(`${path}test/`),
      ]);
      const { status } = await admin.delete(path);
      expect(status).toBe(200);
    }
    await worker.stop();
    expect(service.log()).not.toMatch(/could not be written|"level":50/);
  },
);
