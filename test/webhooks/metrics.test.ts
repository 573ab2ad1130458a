import { expect, test } from 'vitest';
import { startReceiver } from '../support/receiver.ts';
import { makeWebhook, startWithWebhooks } from './started.ts';

const service = await startWithWebhooks();
const { clock, app } = service;
const admin = await service.registerCompany();

async function read(name: string): Promise<number | undefined> {
  const metrics = (await service.anonymous.get('/metrics')).body as string;
  const line = metrics.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

const states = async () => [
  await read('webhook_messages{state="pending"}'),
  await read('webhook_messages{state="late"}'),
];

test('messages are counted while they wait, and attempts by what came of them', async () => {
  let status = 500;
  const receiver = await startReceiver((_, response) => void response.writeHead(status).end());
  const webhook = await makeWebhook(admin, receiver.url);
  expect([...(await states()), await read('webhook_oldest_due_seconds')]).toEqual([0, 0, 0]);
  await admin.post(`/api/webhooks/${webhook._id}/test/`);
  await app.webhookWorker.drain();
  // It waits for its next attempt, and nothing is behind.
  expect([...(await states()), await read('webhook_oldest_due_seconds')]).toEqual([1, 0, 0]);
  clock.advance({ minutes: 10 });
  expect(await states()).toEqual([1, 1]);
  expect(await read('webhook_oldest_due_seconds')).toBeCloseTo(595, -2);
  status = 204;
  await app.webhookWorker.drain();
  expect(await states()).toEqual([0, 0]);
  expect(await read('webhook_attempts_total{outcome="pending"}')).toBe(1);
  expect(await read('webhook_attempts_total{outcome="delivered"}')).toBe(1);
});

test('what waits for a disabled webhook is not behind', async () => {
  const webhook = await makeWebhook(admin, 'http://127.0.0.1:9/');
  await admin.post(`/api/webhooks/${webhook._id}/test/`);
  clock.advance({ minutes: 10 });
  expect(await states()).toEqual([1, 1]);
  await admin.patch(`/api/webhooks/${webhook._id}/`, { isEnabled: false });
  expect(await states()).toEqual([0, 0]);
});
