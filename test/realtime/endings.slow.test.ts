import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Actor } from '../support/actor.ts';
import { overEvents, overWebSocket, type Way } from '../support/listener.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';

const service = await startService();
const { url } = service;
const admin = await service.registerCompany();
const { projectId } = await startWork(admin);

const ways: Way[] = [];
const keep = (way: Way): Way => {
  ways.push(way);
  return way;
};
afterEach(() => Promise.all(ways.splice(0).map((way) => way.close())));

async function say(taskId: number): Promise<void> {
  const { status } = await admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message: 'Hello' });
  expect(status).toBe(200);
}

async function makeKey(actor: Actor, scopes: string[]) {
  const { body } = await actor.post('/api/api-keys/', { name: 'Listener', scopes });
  return { apiKey: body.key as string, keyId: body._id as number };
}

/** What ends somebody's right to listen, and what they are told. */
const endings: [string, string, (who: Actor, keyId: number) => Promise<{ status: number }>][] = [
  ['is deactivated', 'SESSION_ENDED', (who) => admin.patch(`/api/employees/${who.employeeId}/`, { is_active: false })],
  ['is deleted', 'SESSION_ENDED', (who) => admin.delete(`/api/employees/${who.employeeId}/`)],
  ['signs out', 'SESSION_ENDED', (who) => who.post('/logout/')],
];

describe.each([
  ['a WebSocket', overWebSocket],
  ['server-sent events', overEvents],
] as const)('over %s', (_name, over) => {
  test.each(endings)('who %s is told so within 5 seconds and hears no more', async (_what, code, end) => {
    const who = await service.addEmployee(admin);
    const taskId = await addTask(admin, projectId);
    const [theirs, others] = await Promise.all([
      keep(over(url, who.pair)).listen('comments.onTask', { taskId }),
      keep(over(url, admin.pair)).listen('comments.onTask', { taskId }),
    ]);
    const own = await keep(over(url, who.pair)).listen('notifications.onMine');
    await say(taskId);
    await Promise.all([theirs.hears(1), others.hears(1)]);
    const begun = performance.now();
    expect((await end(who, 0)).status).toBe(200);
    expect([await theirs.ends(), await own.ends()]).toEqual([code, code]);
    expect(performance.now() - begun).toBeLessThan(5_000);
    await say(taskId);
    await others.hears(2);
    expect(theirs.events).toHaveLength(1);
    expect(others.errorCode()).toBeUndefined();
  });

  test('a revoked key hears no more, and one that may not read hears nothing', async () => {
    const taskId = await addTask(admin, projectId);
    const { apiKey, keyId } = await makeKey(admin, ['read']);
    const listener = await keep(over(url, { apiKey })).listen('comments.onTask', { taskId });
    const writer = await makeKey(admin, ['write']);
    const refused = await keep(over(url, { apiKey: writer.apiKey })).listen('comments.onTask', { taskId });
    expect(await refused.ends()).toBe('SCOPE_REQUIRED');
    await say(taskId);
    await listener.hears(1);
    await admin.delete(`/api/api-keys/${keyId}/`);
    expect(await listener.ends()).toBe('SESSION_ENDED');
    expect(listener.events).toHaveLength(1);
  });

  test('a deleted task, or its project, is talked of no more', async () => {
    const { taskId: ofProject, projectId: doomed } = await startWork(admin);
    const taskId = await addTask(admin, projectId);
    const way = keep(over(url, admin.pair));
    const byTask = await way.listen('comments.onTask', { taskId });
    const byProject = await way.listen('comments.onTask', { taskId: ofProject });
    const stays = await way.listen('notifications.onMine');
    await admin.delete(`/api/tasks/${taskId}/`);
    await admin.delete(`/api/projects/${doomed}/`);
    expect([await byTask.ends(), await byProject.ends()]).toEqual(['NOT_FOUND', 'NOT_FOUND']);
    expect(stays.errorCode()).toBeUndefined();
  });

  test.each([
    ['nobody', 'UNAUTHENTICATED', () => null],
    ['half a pair', 'TOKEN_PAIR_REQUIRED', () => ({ apiKey: admin.pair.access_token })],
    ['a forged token', 'INVALID_TOKEN', () => ({ ...admin.pair, access_token: `${admin.pair.access_token}x` })],
    ['a made-up key', 'INVALID_TOKEN', () => ({ apiKey: 'wms_made-up' })],
  ])('refuses %s', async (_who, code, proof) => {
    const listener = await keep(over(url, proof())).listen('notifications.onMine');
    // A stream of events is refused before it begins, and browsers tell its status alone.
    expect(await listener.ends()).toBe(over === overEvents ? 'Non-200 status code (401)' : code);
  });
});

test('the end of a session closes its sockets, and no others', async () => {
  const who = await service.addEmployee(admin);
  const connect = async ({ pair }: Actor) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/trpc?connectionParams=1`);
    await once(socket, 'open');
    const data = { accessToken: pair.access_token, refreshToken: pair.refresh_token };
    socket.send(JSON.stringify({ method: 'connectionParams', data }));
    socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'sessions.list' } }));
    await once(socket, 'message');
    return socket;
  };
  const [theirs, others] = await Promise.all([connect(who), connect(admin)]);
  const closed = once(theirs, 'close');
  await who.post('/logout/');
  const [code, reason] = (await closed) as [number, Buffer];
  expect([code, String(reason)]).toEqual([4401, 'the session has ended: sign in again']);
  expect(others.readyState).toBe(WebSocket.OPEN);
  others.close();
});
