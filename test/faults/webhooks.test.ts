import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { createCaller, type Caller } from '../support/actor.ts';
import { asOneOfSeveral, endAllProcesses, makeHome, startProcess, type ServiceProcess } from '../support/process.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

/*
 * A process is killed again and again while comments are written: each one that was committed reaches each of three receivers,
 * of which one fails half the time, and always under the same identifier.
 */

const kills = Number(process.env['TEST_KILLS'] ?? 3);
const timeout = 120_000 + kills * 20_000;

const home = await makeHome();
afterAll(async () => {
  await endAllProcesses();
  await home.remove();
});

type Me = Caller & { companyId: number; employeeId: number };

const start = () =>
  startProcess({ ...home.environment, ...asOneOfSeveral, SEED_DEMO: 'true', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' });

async function signIn({ url }: ServiceProcess): Promise<Me> {
  const demo = JSON.parse(readFileSync(join(home.folder, 'demo-sign-in.json'), 'utf8')) as object;
  const { status, body } = await createCaller(url).post('/login/', demo);
  expect(status).toBe(200);
  return { ...createCaller(url, body), companyId: body.company.company_id, employeeId: body.employee._id };
}

/** Writes comments, four at a time, until a call fails because the process is gone. */
async function writeUntilKilled(me: Me, taskId: number): Promise<number[]> {
  const written: number[] = [];
  async function write(): Promise<void> {
    for (;;) {
      const answer = await me
        .post('/api/task-chats/', { taskId, sender: me.employeeId, message: 'under load' })
        .catch(() => undefined);
      if (answer?.status !== 200) return;
      written.push(answer.body._id);
    }
  }
  await Promise.all([write(), write(), write(), write()]);
  return written;
}

const commentsIn = (receiver: Receiver): Map<number, Set<string>> => {
  const found = new Map<number, Set<string>>();
  for (const { body, id } of receiver.received) {
    const ids = found.get(body.data.commentId) ?? new Set();
    found.set(body.data.commentId, ids.add(id));
  }
  return found;
};

/** What an admin does about messages that wait for minutes: has them sent again. */
async function resendPending(me: Me, webhookId: number): Promise<void> {
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '' : `?cursor=${cursor}`;
    const { body } = await me.get(`/api/webhooks/${webhookId}/deliveries/${query}`);
    for (const { _id, state } of body.deliveries)
      if (state === 'pending') await me.post(`/api/webhook-deliveries/${_id}/resend/`);
    cursor = body.nextCursor;
  }
}

test('every committed change reaches every receiver at least once, under one identifier', { timeout }, async () => {
  const receivers = await Promise.all([
    startReceiver(),
    startReceiver((_, response) => setTimeout(() => void response.writeHead(200).end('taken'), 20)),
    startReceiver((_, response) => void response.writeHead(Math.random() < 0.5 ? 500 : 204).end()),
  ]);
  let service = await start();
  let me = await signIn(service);
  const webhookIds: number[] = [];
  for (const { url } of receivers) {
    const { body } = await me.post('/api/webhooks/', { url, events: ['comment.created'] });
    webhookIds.push(body._id);
  }
  const { body: tasks } = await me.get(`/api/tasks/company/${me.companyId}/`);
  const taskId: number = tasks.results[0]._id;

  const written: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const writing = writeUntilKilled(me, taskId);
    await delay(500 + Math.random() * 1_500);
    service.signal('SIGKILL');
    await service.ended;
    written.push(...(await writing));
    service = await start();
    me = await signIn(service);
  }
  expect(written.length).toBeGreaterThan(kills);

  // A comment whose answer was lost is committed too.
  const { body: list } = await me.get(`/api/tasks/chat/${taskId}/`);
  const committed = (list.comments as { _id: number; message: string }[])
    .filter(({ message }) => message === 'under load')
    .map(({ _id }) => _id);
  expect(written.filter((id) => !committed.includes(id))).toEqual([]);
  await expect
    .poll(
      async () => {
        for (const webhookId of webhookIds) await resendPending(me, webhookId);
        return receivers.map((receiver) => committed.filter((id) => !commentsIn(receiver).has(id)).length);
      },
      { timeout: 90_000, interval: 1_000 },
    )
    .toEqual([0, 0, 0]);
  for (const receiver of receivers) {
    const found = commentsIn(receiver);
    expect([...found.values()].filter((ids) => ids.size !== 1)).toEqual([]);
    expect(new Set(found.keys())).toEqual(new Set(committed));
  }
});
