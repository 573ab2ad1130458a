import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { overWebSocket } from '../support/listener.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { waitUntil } from '../support/waiting.ts';

const service = await startService();
const { url } = service;
const admin = await service.registerCompany();
const { projectId } = await startWork(admin);
const proof = { accessToken: admin.pair.access_token, refreshToken: admin.pair.refresh_token };
const message = 'x'.repeat(60_000);

const sockets: WebSocket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.terminate()));

async function openSignedIn(): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/trpc?connectionParams=1`);
  sockets.push(socket);
  await once(socket, 'open');
  socket.send(JSON.stringify({ method: 'connectionParams', data: proof }));
  return socket;
}

const call = (id: unknown, path: string, input?: object) => ({ id, method: 'query', params: { path, input } });
const follow = (id: unknown, taskId: number) => ({
  id,
  method: 'subscription',
  params: { path: 'comments.onTask', input: { taskId } },
});
// oxlint-disable-next-line typescript/no-explicit-any -- what comes is for the test to judge
type Said = any;

/** All that a socket is told from now on. */
function hear(socket: WebSocket): Said[] {
  const told: Said[] = [];
  socket.on('message', (data: Buffer) => {
    if (String(data) !== 'PING') told.push(JSON.parse(String(data)));
  });
  return told;
}

async function say(taskId: number, text = message): Promise<void> {
  const { status } = await admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message: text });
  expect(status).toBe(200);
}

const until = (isSo: () => boolean | Promise<boolean>) => waitUntil(isSo, { timeout: 60_000 });

/** The bytes in the service's memory for a subscriber who does not read. */
async function waitingBytes(): Promise<number> {
  return Number(/^event_waiting_bytes (\d+)$/m.exec((await service.anonymous.get('/metrics')).body)![1]);
}

test('a hundred subscriptions of one socket fill it no further than one', async () => {
  const taskId = await addTask(admin, projectId);
  const socket = await openSignedIn();
  const told = hear(socket);
  socket.send(JSON.stringify(Array.from({ length: 100 }, (_, id) => follow(id, taskId))));
  const isStarted = ({ result }: Said) => result?.type === 'started';
  await until(() => told.filter(isStarted).length === 100);
  const way = overWebSocket(url, admin.pair);
  onTestFinished(() => way.close());
  const other = await way.listen('comments.onTask', { taskId });
  socket.pause();
  // A hundred copies of each: more than the network keeps.
  for (let said = 0; said < 4; said += 1) await say(taskId);
  await other.hears(4);
  await until(async () => (await waitingBytes()) > 0);
  for (let others = 0; others < 10; others += 1) await admin.get(`/api/tasks/chat/${taskId}/`);
  expect(await waitingBytes()).toBeLessThan(256 * 1024);

  socket.resume();
  const eventsOf = (id: number) => told.filter((one) => one.id === id && one.result?.type === 'data');
  await until(() => [0, 50, 99].every((id) => eventsOf(id).length === 4));
  expect(eventsOf(99).map(({ result }) => result.id)).toEqual(['1', '2', '3', '4']);
});

test('who asks and does not read is not heard further, and is answered when they read', async () => {
  const taskId = await addTask(admin, projectId);
  for (let said = 0; said < 10; said += 1) await say(taskId);
  const socket = await openSignedIn();
  const told = hear(socket);
  socket.send(JSON.stringify(call(0, 'sessions.list')));
  await until(() => told.length === 1);
  socket.pause();
  const ask = (from: number, count: number) => {
    for (let id = from; id < from + count; id += 1)
      socket.send(JSON.stringify(call(id, 'comments.listByTask', { task_id: taskId })));
  };
  let asked = 1;
  await until(async () => {
    ask(asked, 1);
    asked += 1;
    return (await waitingBytes()) > 0;
  });
  ask(asked, 100);
  asked += 100;
  for (let others = 0; others < 10; others += 1) await admin.get(`/api/tasks/chat/${taskId}/`);
  expect(await waitingBytes()).toBeLessThan(12 * 10 * message.length);
  socket.resume();
  await until(() => told.length === asked);
  expect(told.every(({ result }) => result?.type === 'data')).toBe(true);
});

test('a message of more calls than anybody needs is refused as a whole', async () => {
  const socket = await openSignedIn();
  const told = hear(socket);
  const calls = (count: number) => Array.from({ length: count }, (_, id) => call(id, 'sessions.list'));
  socket.send(JSON.stringify(calls(5_000)));
  await until(() => told.length > 0);
  socket.send(JSON.stringify(calls(201)));
  await until(() => told.length >= 202);
  await delay(20);
  expect(told[0]).toMatchObject({ id: null, error: { data: { code: 'MALFORMED_JSON' } } });
  expect(told.slice(1).map(({ id }) => id)).toEqual(Array.from({ length: 201 }, (_, id) => id));
  expect(told).toHaveLength(202);
});

test('a call with an endless name is refused: every event of a subscription would repeat it', async () => {
  const socket = await openSignedIn();
  const told = hear(socket);
  socket.send(JSON.stringify([call('x'.repeat(101), 'sessions.list')]));
  socket.send(JSON.stringify(call('x'.repeat(100), 'sessions.list')));
  await until(() => told.length === 2);
  expect(told[0]).toMatchObject({ id: null, error: { data: { code: 'MALFORMED_JSON' } } });
  expect(told[1]).toMatchObject({ id: 'x'.repeat(100), result: { type: 'data' } });
});

test('who says what is no call a hundred times is shown out', async () => {
  const socket = await openSignedIn();
  const told = hear(socket);
  const closed = once(socket, 'close');
  for (let said = 0; said < 99; said += 1) socket.send(['{', '7', 'null', '[null]'][said % 4]!);
  socket.send(JSON.stringify(call(1, 'sessions.list')));
  await until(() => told.length === 100);
  expect(told[99]).toMatchObject({ id: 1, result: { type: 'data' } });
  expect(told.slice(0, 99).every(({ id, error }) => id === null && error.data.code === 'MALFORMED_JSON')).toBe(true);
  socket.send('{');
  expect((await closed)[0]).toBe(4400);
});

test.each([
  ['a short event', 'Hello'],
  ['a long one', `${message} “quoted” \u{1F680}`],
])('%s is the same message for all who hear it, whatever they call it', async (_length, text) => {
  const taskId = await addTask(admin, projectId);
  const ids = [1, 'one', 'quote " and \\ and \u{1F680}'];
  const socket = await openSignedIn();
  const told = hear(socket);
  socket.send(JSON.stringify(ids.map((id) => follow(id, taskId))));
  await until(() => told.length === 3);
  const liker = await service.addEmployee(admin);
  const likers = overWebSocket(url, liker.pair);
  onTestFinished(() => likers.close());
  const own = await likers.listen('comments.onTask', { taskId });
  await say(taskId, text);
  const [{ commentId }] = (await own.hears(1)) as [Said];
  await liker.post(`/api/like-chat/${liker.employeeId}/${commentId}/`);
  await until(() => told.length === 9);

  const liked = (await own.hears(2))[1]!;
  expect(liked.comment).toMatchObject({ message: text, likedByMe: true, likeCount: 1 });
  for (const id of ids) {
    const [created, likedToo] = told.slice(3).filter((one) => one.id === id);
    expect(created).toEqual({ id, result: { type: 'data', id: '1', data: { id: '1', data: own.events[0] } } });
    expect(likedToo.result.data.data).toEqual({ ...liked, comment: { ...liked.comment, likedByMe: false } });
  }
});
