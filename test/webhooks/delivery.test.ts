import { createPublicKey, verify } from 'node:crypto';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { webhookEvents } from '../../server/features/webhooks/event-types.ts';
import { recordEvent } from '../../server/kernel/append-event.ts';
import { inTransaction } from '../../server/kernel/in-transaction.ts';
import { errorOf } from '../support/actor.ts';
import { startReceiver, type Received } from '../support/receiver.ts';
import { startWork } from '../support/work.ts';
import { deliveriesOf, makeWebhook, say, startWithWebhooks } from './started.ts';

const service = await startWithWebhooks();
const { clock, app, database } = service;
const { drain } = app.webhookWorker;
const admin = await service.registerCompany();
const { taskId } = await startWork(admin);

/** Whether a message verifies with the package that receivers use. */
function isGenuine(secret: string, { headers, text }: Received): boolean {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

test('sends what happens to comments, signed, in the shape of Standard Webhooks', async () => {
  const receiver = await startReceiver();
  const webhook = await makeWebhook(admin, receiver.url);
  const commentId = await say(admin, taskId, 'Ready?');
  await admin.patch(`/api/edit-task-chats/${commentId}/`, { message: 'Now?' });
  await admin.post(`/api/like-chat/${admin.employeeId}/${commentId}/`);
  await admin.delete(`/api/taskchat/${commentId}/`);
  await drain();

  const data = { actorId: admin.employeeId, taskId, commentId };
  const received = receiver.received.toSorted((a, b) => a.body.sequence - b.body.sequence);
  const [{ sequence: first }] = received.map(({ body }) => body);
  expect(received.map(({ body }) => body)).toEqual(
    ['comment.created', 'comment.edited', 'comment.liked', 'comment.deleted'].map((type, index) => ({
      type,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      stream: `task ${taskId}`,
      sequence: first + index,
      data,
    })),
  );
  expect(new Set(received.map(({ id }) => id)).size).toBe(4);
  for (const one of received) {
    expect(one.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'work-management-service' });
    expect(one.id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(isGenuine(webhook.secret, one)).toBe(true);
    expect(isGenuine(webhook.secret, { ...one, text: one.text.replace('comment', 'Comment') })).toBe(false);
  }
  const deliveries = await deliveriesOf(admin, webhook);
  expect(deliveries[0]).toEqual({
    _id: expect.any(Number),
    webhookId: webhook._id,
    messageId: received[3]!.id,
    type: 'comment.deleted',
    stream: `task ${taskId}`,
    sequence: first + 3,
    state: 'delivered',
    attempts: [{ at: expect.any(String), durationMs: expect.any(Number), status: 204, error: null, answer: '' }],
    nextAttemptAt: null,
    createdAt: received[3]!.body.timestamp,
  });
});

test('sends a recorded change once, whatever the number of its streams, with its payload', async () => {
  const receiver = await startReceiver();
  await makeWebhook(admin, receiver.url, ['task.updated', 'task.deleted']);
  const { companyId } = admin;
  const at = clock.now();
  const payload = {
    actorId: 7,
    taskId: 12,
    task: { _id: 12 },
    changes: { title: { before: 'ä', after: '\u{1F600}' } },
  };
  await inTransaction(app.services, companyId, async (db) => {
    recordEvent(db, { companyId, stream: 'project 501', type: 'task.updated', payload, at });
    recordEvent(db, { companyId, stream: 'project 502', type: 'task.updated', payload, at, isCopy: true });
    recordEvent(db, { companyId, stream: 'project 501', type: 'task.deleted', payload: { taskId: 13 }, at });
    recordEvent(db, { companyId, stream: 'timers 7', type: 'timer.started', payload: {}, at });
  });
  await inTransaction(app.services, companyId, async (db) => {
    recordEvent(db, { companyId, stream: 'project 501', type: 'task.deleted', payload: { taskId: 14 }, at });
  });
  await drain();
  const timestamp = at.toISOString();
  expect(receiver.received.map(({ body }) => body).toSorted((a, b) => a.sequence - b.sequence)).toEqual([
    { type: 'task.updated', timestamp, stream: 'project 501', sequence: 1, data: payload },
    { type: 'task.deleted', timestamp, stream: 'project 501', sequence: 2, data: { taskId: 13 } },
    { type: 'task.deleted', timestamp, stream: 'project 501', sequence: 3, data: { taskId: 14 } },
  ]);
});

test('sends the changes that people make, also deletions, in less than 64 KiB', async () => {
  const receiver = await startReceiver();
  const webhook = await makeWebhook(admin, receiver.url, [...webhookEvents]);
  const title = 'x'.repeat(200);
  const { projectId } = await startWork(admin, { name: 'Webhooks' });
  const made = await admin.post('/api/tasks/', { projectId, title, description: '\u{1F600}'.repeat(4_000) });
  const path = `/api/tasks/${made.body._id}/`;
  await admin.patch(path, { title: 'Shorter', status: 'done' });
  const times = { start_time: '2026-03-02T08:00:00Z', end_time: '2026-03-02T08:30:00Z' };
  const log = { task_id: made.body._id, employee_id: admin.employeeId, description: 'Gears', ...times };
  const logged = await admin.post('/tasklog/create/', log);
  await admin.delete(`/api/tasklogs/delete/${logged.body._id}/`);
  await admin.delete(path);
  await service.addEmployee(admin, { salary: 4_711 });
  await drain();
  const bodies = receiver.received.map(({ body }) => body);
  const dataOf = (type: string) => bodies.find((body) => body.type === type && body.data.taskId !== undefined)?.data;
  expect(dataOf('task.deleted')).toMatchObject({ taskId: made.body._id, task: { title: 'Shorter', status: 'done' } });
  expect(dataOf('task.updated').changes).toMatchObject({ title: { before: title, after: 'Shorter' } });
  expect(bodies.map(({ type }) => type)).toEqual(
    expect.arrayContaining([
      'project.created',
      'task.created',
      'task_log.created',
      'task_log.deleted',
      'employee.created',
    ]),
  );
  for (const { text } of receiver.received) {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
    expect(text).not.toMatch(/4711|whsec_/);
  }
  await admin.delete(`/api/webhooks/${webhook._id}/`);
});

test('signs with a key of the service too, which the list of webhooks names', async () => {
  const receiver = await startReceiver();
  const webhook = await makeWebhook(admin, receiver.url);
  await admin.post(`/api/webhooks/${webhook._id}/test/`);
  await drain();
  const [{ headers, text, id, body }] = receiver.received as [Received];
  expect(body).toEqual({
    type: 'webhook.test',
    timestamp: expect.any(String),
    data: { actorId: admin.employeeId, webhookId: webhook._id },
  });
  const { publicKeys } = (await admin.get(`/api/webhooks/company/${admin.companyId}/`)).body;
  const signatures = String(headers['webhook-signature']).split(' ');
  expect(signatures.map((one) => one.split(',')[0])).toEqual(['v1', 'v1a']);
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKeys[0].slice(5), 'base64').toString('base64url') },
    format: 'jwk',
  });
  const signed = Buffer.from(`${id}.${String(headers['webhook-timestamp'])}.${text}`);
  expect(verify(null, signed, key, Buffer.from(signatures[1]!.slice(4), 'base64'))).toBe(true);
});

test('both secrets sign for 24 hours after a rotation, also of what was written before it', async () => {
  const receiver = await startReceiver();
  const before = await makeWebhook(admin, receiver.url);
  const send = async () => {
    await admin.post(`/api/webhooks/${before._id}/test/`);
    await drain();
    return receiver.received.at(-1)!;
  };
  await admin.post(`/api/webhooks/${before._id}/test/`);
  const { secret, previousSecretUntil } = (await admin.post(`/api/webhooks/${before._id}/rotate-secret/`)).body;
  expect(new Date(previousSecretUntil).getTime() - clock.now().getTime()).toBeCloseTo(24 * 3_600_000, -4);
  await drain();
  const both = receiver.received.at(-1)!;
  expect([isGenuine(before.secret, both), isGenuine(secret, both)]).toEqual([true, true]);
  clock.advance({ hours: 25 });
  // The package compares the time of a message with that of this machine.
  const only = String((await send()).headers['webhook-signature']).split(' ');
  expect(only.map((one) => one.split(',')[0])).toEqual(['v1', 'v1a']);
  expect((await admin.get(`/api/webhooks/${before._id}/`)).body.previousSecretUntil).toBeNull();
});

test('sends nothing of another company, of other events, to a disabled webhook, or of what was rolled back', async () => {
  const receiver = await startReceiver();
  const neighbour = await service.registerCompany();
  const theirs = await startWork(neighbour);
  const webhook = await makeWebhook(admin, receiver.url, ['comment.created']);
  const commentId = await say(admin, taskId, 'heard');
  await say(neighbour, theirs.taskId, 'not ours');
  await admin.post(`/api/like-chat/${admin.employeeId}/${commentId}/`);
  const refused = await admin.post('/api/task-chats/', {
    taskId,
    sender: admin.employeeId,
    message: 'never',
    mentionedEmails: ['nobody@example.com'],
  });
  expect(refused.status).toBe(400);
  await drain();
  expect(receiver.received.map(({ body }) => body.data.commentId)).toEqual([commentId]);
  await admin.patch(`/api/webhooks/${webhook._id}/`, { isEnabled: false });
  await say(admin, taskId, 'unheard');
  await admin.patch(`/api/webhooks/${webhook._id}/`, { isEnabled: true });
  await drain();
  expect(receiver.received).toHaveLength(1);
});

test('a disabled webhook gets what was pending when it is enabled again, at its new URL', async () => {
  const receiver = await startReceiver();
  const webhook = await makeWebhook(admin, 'http://127.0.0.1:9/');
  const commentId = await say(admin, taskId, 'waits');
  await admin.patch(`/api/webhooks/${webhook._id}/`, { isEnabled: false });
  await drain();
  expect((await deliveriesOf(admin, webhook))[0].attempts).toEqual([]);
  await admin.patch(`/api/webhooks/${webhook._id}/`, { isEnabled: true, url: receiver.url });
  await drain();
  expect(receiver.received.map(({ body }) => body.data.commentId)).toEqual([commentId]);
});

test('sends a delivered message again under the same identifier, with the same bytes', async () => {
  const receiver = await startReceiver();
  const webhook = await makeWebhook(admin, receiver.url);
  await say(admin, taskId, 'twice');
  await drain();
  const [delivery] = await deliveriesOf(admin, webhook);
  const resent = await admin.post(`/api/webhook-deliveries/${delivery._id}/resend/`);
  expect(resent.body).toMatchObject({ _id: delivery._id, state: 'pending', attempts: delivery.attempts });
  await drain();
  const [first, second] = receiver.received;
  expect([second!.id, second!.text]).toEqual([first!.id, first!.text]);
  expect((await deliveriesOf(admin, webhook))[0]).toMatchObject({
    state: 'delivered',
    attempts: [{ status: 204 }, { status: 204 }],
  });
});

test('shows and keeps the last 20 attempts of a message', async () => {
  const receiver = await startReceiver();
  const webhook = await makeWebhook(admin, receiver.url);
  await say(admin, taskId, 'again and again');
  await say(admin, taskId, 'beside it');
  await drain();
  const [beside, delivery] = await deliveriesOf(admin, webhook);
  for (const { _id } of [beside, delivery])
    await sql`
      insert into webhook_attempts (company_id, message_id, at, duration_ms, status)
      select ${admin.companyId}::bigint, ${_id}::bigint, ${clock.now()}, n, 503 from generate_series(1, 30) as n`.execute(
      database.db,
    );
  const durations = (one: { attempts: { durationMs: number }[] }) => one.attempts.map(({ durationMs }) => durationMs);
  const last20 = Array.from({ length: 20 }, (_, index) => index + 11);
  expect((await deliveriesOf(admin, webhook)).map(durations)).toEqual([last20, last20]);
  await admin.post(`/api/webhook-deliveries/${delivery._id}/resend/`);
  await drain();
  const [, resent] = await deliveriesOf(admin, webhook);
  expect(durations(resent).slice(0, 19)).toEqual(last20.slice(1));
  expect(resent.attempts[19]).toMatchObject({ status: 204 });
  const { rows } = await sql<{ count: number }>`
    select count(*) from webhook_attempts where message_id in (${beside._id}, ${delivery._id})
    group by message_id order by message_id`.execute(database.db);
  expect(rows.map(({ count }) => count)).toEqual([20, 31]);
});

test('sends again what has failed since a moment, and nothing else', async () => {
  let status = 500;
  const receiver = await startReceiver((_, response) => void response.writeHead(status).end());
  const webhook = await makeWebhook(admin, receiver.url);
  await say(admin, taskId, 'too early');
  clock.advance({ minutes: 1 });
  const since = clock.now().toISOString();
  const commentId = await say(admin, taskId, 'lost');
  await database.db
    .updateTable('webhook_messages')
    .set({ state: 'failed' })
    .where('webhook_id', '=', webhook._id)
    .execute();
  status = 200;
  await say(admin, taskId, 'taken');
  await drain();
  receiver.received.length = 0;
  const recover = () => admin.post(`/api/webhooks/${webhook._id}/recover/`, { since });
  expect((await recover()).body).toEqual({ recovered: 1 });
  await drain();
  expect(receiver.received.map(({ body }) => body.data.commentId)).toEqual([commentId]);
  expect((await recover()).body).toEqual({ recovered: 0 });
});

test('lists deliveries page by page, each once', async () => {
  const receiver = await startReceiver();
  const webhook = await makeWebhook(admin, receiver.url);
  for (let count = 0; count < 120; count += 1) await admin.post(`/api/webhooks/${webhook._id}/test/`);
  await drain();
  const ids: number[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages += 1) {
    const query: string = cursor === '' ? '' : `?cursor=${cursor}`;
    const { body } = await admin.get(`/api/webhooks/${webhook._id}/deliveries/${query}`);
    ids.push(...body.deliveries.map((one: { _id: number }) => one._id));
    cursor = body.nextCursor;
  }
  expect(pages).toBe(3);
  expect(new Set(ids).size).toBe(120);
  expect(ids).toEqual(ids.toSorted((a, b) => b - a));
  expect(errorOf(await admin.get(`/api/webhooks/${webhook._id}/deliveries/?cursor=x`))).toMatchObject({
    issues: ['cursor'],
  });
});

test('a webhook that is deleted while it is written for refuses no comment', { timeout: 60_000 }, async () => {
  const receiver = await startReceiver();
  for (let round = 0; round < 12; round += 1) {
    const webhook = await makeWebhook(admin, receiver.url);
    await Promise.all([
      ...Array.from({ length: 6 }, (_, index) => say(admin, taskId, `comment ${index}`)),
      admin.delete(`/api/webhooks/${webhook._id}/`).then(({ status }) => expect(status).toBe(200)),
      drain(),
    ]);
  }
});
