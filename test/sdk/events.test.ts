import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { isFault, type Client, type ClientOptions, type EventOf, type SessionChange } from 'work-management-client';
import { publish } from '../../server/kernel/publish.ts';
import { startProxy } from '../support/proxy.ts';
import { password, startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { codeOf, connect, sessionOf } from './clients.ts';
import { startWiretap } from './wiretap.ts';

const service = await startService();
const { url, database } = service;
const admin = await service.registerCompany();
const neighbour = await service.registerCompany({ name: 'Compilers' });
const reader = await service.addEmployee(admin);
const { projectId } = await startWork(admin);

const say = (taskId: number, message: string) =>
  admin.trpc.comments.create.mutate({ taskId, sender: admin.employeeId, message: `<p>${message}</p>` });
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const listen = (baseUrl: string, options: Partial<ClientOptions> = {}) =>
  connect(baseUrl, { session: sessionOf(reader.pair), ...options });

type Heard = EventOf<'comments.onTask'> | EventOf<'notifications.onMine'>;

/** Listens until it ends; answers what was heard, what the stream said of itself, and how it ended. */
function hear(
  open: (options: { signal: AbortSignal; onStatus(status: string): void }) => AsyncIterable<Heard>,
  onEvent: (event: Heard) => void | Promise<void> = () => {},
) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const events: Heard[] = [];
  const statuses: string[] = [];
  async function run(): Promise<string> {
    try {
      const stream = open({ signal: stop.signal, onStatus: (status) => void statuses.push(status) });
      for await (const event of stream) {
        events.push(event);
        await onEvent(event);
      }
      return 'in peace';
    } catch (error) {
      return isFault(error) ? error.code : String(error);
    }
  }
  const ended = run();
  return {
    events,
    statuses,
    ended,
    stop: () => stop.abort(),
    ids: () => events.map(({ id }) => id),
    isLive: () => vi.waitUntil(() => statuses.at(-1) === 'live', { timeout: 15_000 }),
    hears: (count: number) => vi.waitUntil(() => events.length >= count, { timeout: 20_000 }),
  };
}

const onTask = (client: Client, taskId: number, lastEventId?: string) =>
  hear((options) => client.comments.onTask({ taskId, lastEventId: lastEventId ?? null }, options));

/** How many connections and subscriptions the service has. */
async function subscriptions(): Promise<number[]> {
  const { body } = await service.stranger.get('/metrics');
  const count = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(body)![1]);
  return [count('event_connections'), count('event_subscriptions')];
}

/** When those of the tests before have gone. */
async function quiet(): Promise<number[]> {
  const none = [0, 0];
  await vi.waitFor(async () => expect(await subscriptions()).toEqual(none));
  return none;
}

describe.each([['websocket'], ['sse']] as const)('events by %s', (events) => {
  test('come typed, each once and in order, while the loop runs', async () => {
    const taskId = await addTask(admin, projectId);
    const client = listen(url, { events });
    const heard = onTask(client, taskId);
    await heard.isLive();
    const { _id } = await say(taskId, 'Done?');
    await client.comments.listByTask({ task_id: taskId });
    await service.drain();
    await heard.hears(2);
    const [created, seen] = heard.events;
    if (created?.type !== 'comment.created' || seen?.type !== 'comment.seen') throw new Error('not what happened');
    expect(created).toMatchObject({ id: 1, taskId, commentId: _id, comment: { message: '<p>Done?</p>' } });
    expect(seen).toMatchObject({ id: 2, commentIds: [_id], seenBy: { employee_id: reader.employeeId } });
    expect(heard.statuses).toEqual(['connecting', 'live']);
  });

  test('go on by themselves after cuts, also before the first event, without loss or doubles', async () => {
    const taskId = await addTask(admin, projectId);
    const proxy = await startProxy(url, 80);
    onTestFinished(() => proxy.close());
    const heard = onTask(listen(proxy.url, { events }), taskId);
    await heard.isLive();
    for (let round = 0; round < 3; round += 1) {
      proxy.cut();
      await Promise.all(upTo(6).map((number) => say(taskId, `Round ${round}, ${number}`)));
      await vi.waitUntil(() => heard.statuses.at(-1) === 'waiting');
      proxy.restore();
      await Promise.all(upTo(4).map((number) => say(taskId, `Round ${round} is over, ${number}`)));
      await heard.hears(10 * (round + 1));
    }
    expect(heard.ids()).toEqual(upTo(30));
    expect(heard.statuses.filter((status) => status === 'live')).toHaveLength(4);
  });

  test('go on from a given one; who was away for too long is told so', async () => {
    const taskId = await addTask(admin, projectId);
    for (const number of upTo(3)) await say(taskId, `Number ${number}`);
    const some = onTask(listen(url, { events }), taskId, '1');
    const tooLate = onTask(listen(url, { events }), taskId, '77');
    await Promise.all([some.hears(2), tooLate.hears(1)]);
    await say(taskId, 'Number 4');
    await Promise.all([some.hears(3), tooLate.hears(2)]);
    expect(some.ids()).toEqual([2, 3, 4]);
    expect(tooLate.events.map(({ id, type }) => [id, type])).toEqual([
      [3, 'stream.reset'],
      [4, 'comment.created'],
    ]);
  });

  test('end quietly when they are aborted or left, and the service is told', async () => {
    const taskId = await addTask(admin, projectId);
    const before = await quiet();
    const client = listen(url, { events });
    const aborted = onTask(client, taskId);
    const left = hear((options) => client.notifications.onMine({}, options));
    await Promise.all([aborted.isLive(), left.isLive()]);
    expect((await subscriptions())[1]).toBe(before[1]! + 2);
    aborted.stop();
    expect(await aborted.ended).toBe('in peace');
    await vi.waitFor(async () => expect((await subscriptions())[1]).toBe(before[1]! + 1));
    left.stop();
    expect(await left.ended).toBe('in peace');
    await vi.waitFor(async () => expect(await subscriptions()).toEqual(before));

    const stream = client.comments.onTask({ taskId });
    const next = stream.next();
    await stream.return();
    expect(await next).toMatchObject({ done: true });
    const unheard = client.comments.onTask({ taskId }, { signal: AbortSignal.abort() });
    expect(await unheard.next()).toMatchObject({ done: true });
    for await (const event of client.comments.onTask(
      { taskId },
      { onStatus: (status) => void (status === 'live' && say(taskId, 'x')) },
    )) {
      expect(event.type).toBe('comment.created');
      break;
    }
    await vi.waitFor(async () => expect(await subscriptions()).toEqual(before));
  });

  test('are refused by name, and no more is tried', async () => {
    const taskId = await addTask(admin, projectId);
    const ofAnother = onTask(listen(url, { events, session: sessionOf(neighbour.pair) }), taskId);
    expect(await ofAnother.ended).toBe('NOT_FOUND');
    expect(await onTask(listen(url, { events }), taskId, 'x').ended).toBe('VALIDATION_FAILED');
    expect(await onTask(connect(url, { events }), taskId).ended).toBe('UNAUTHENTICATED');
    expect(ofAnother.statuses).toEqual(['connecting']);
  });

  test('end with the session: the service ended it', async () => {
    const taskId = await addTask(admin, projectId);
    const changes: SessionChange[] = [];
    const client = connect(url, { events, onSession: (_, change) => void changes.push(change) });
    await client.auth.login({ email: reader.email, password });
    const heard = onTask(client, taskId);
    await heard.isLive();
    const { accessToken: access_token, refreshToken: refresh_token } = client.session!;
    await service.as({ access_token, refresh_token }).post('/logout/');
    expect(await heard.ended).toBe('SESSION_ENDED');
    expect(client.session).toBeNull();
    expect(changes).toEqual(['signed in', 'ended']);
  });

  test('end with the session: somebody else signs in', async () => {
    const taskId = await addTask(admin, projectId);
    const client = listen(url, { events });
    const heard = onTask(client, taskId);
    await heard.isLive();
    await client.setSession(sessionOf(neighbour.pair));
    expect(await heard.ended).toBe('SESSION_ENDED');
    expect(await codeOf(Promise.resolve(client.comments.onTask({ taskId }).next()))).toBe('NOT_FOUND');
  });

  test('begin with fresh tokens where the old ones have run out, or are no good', async () => {
    const taskId = await addTask(admin, projectId);
    const line = await startWiretap(url);
    const client = connect(line.url, { events });
    await client.auth.login({ email: reader.email, password });
    const session = client.session!;
    const worn = connect(line.url, { events, session: { ...session, expiresAt: Date.now() } });
    const heard = onTask(worn, taskId);
    await heard.isLive();
    expect(worn.session).toMatchObject({ rotation: 1 });
    const accessToken = `${session.accessToken.slice(0, -4)}AAAA`;
    const broken = connect(line.url, { events, session: { ...worn.session!, accessToken } });
    const after = onTask(broken, taskId);
    await after.isLive();
    expect(broken.session).toMatchObject({ rotation: 2 });
    for (const token of [worn.session!.accessToken, worn.session!.refreshToken, accessToken])
      expect(line.requests().join(' ')).not.toContain(token);
    expect(line.requests().join(' ')).toContain('/trpc');
  });

  test('wait for a reader who is slow, without end', async () => {
    const taskId = await addTask(admin, projectId);
    const released = Promise.withResolvers<void>();
    const client = listen(url, { events });
    const heard = hear(
      (options) => client.comments.onTask({ taskId }, options),
      () => released.promise,
    );
    await heard.isLive();
    // More than the client holds for anybody.
    const facts = 1_300;
    const transaction = database.begin();
    const stream = `task ${taskId}`;
    for (const number of upTo(facts)) {
      const payload = { comment_id: 1_000_000 + number, task_id: taskId };
      await publish(transaction.db, {
        companyId: admin.companyId,
        stream,
        type: 'comment.created',
        payload,
        at: new Date(),
      });
    }
    await transaction.commit();
    service.app.services.streams.wake([`${admin.companyId} ${stream}`]);
    await heard.hears(1);
    released.resolve();
    await heard.hears(facts);
    expect(heard.ids()).toEqual(upTo(facts));
  });
});

describe('the way that events come', () => {
  test('is one WebSocket for all streams of a client', async () => {
    const taskIds = [await addTask(admin, projectId), await addTask(admin, projectId)];
    const line = await startWiretap(url);
    const client = listen(line.url);
    const all = taskIds.map((taskId) => onTask(client, taskId));
    await Promise.all(all.map((one) => one.isLive()));
    expect(line.requests()).toEqual(['GET /trpc?connectionParams=1']);
  });

  test('is server-sent events where WebSockets do not get through', async () => {
    const taskId = await addTask(admin, projectId);
    const line = await startWiretap(url);
    line.refuseUpgrades();
    const heard = onTask(listen(line.url), taskId);
    await heard.isLive();
    await say(taskId, 'Heard?');
    await heard.hears(1);
    expect(line.requests().map((request) => request.replace(/input=.*/, ''))).toEqual([
      'GET /trpc?connectionParams=1',
      'GET /trpc/comments.onTask?',
    ]);
  });

  test('becomes server-sent events where WebSockets get through no more, and loses nothing by that', async () => {
    const taskId = await addTask(admin, projectId);
    const line = await startWiretap(url);
    const heard = onTask(listen(line.url), taskId);
    await heard.isLive();
    line.refuseUpgrades();
    line.cut();
    for (const number of upTo(3)) await say(taskId, `Number ${number}`);
    await heard.hears(3);
    expect(heard.ids()).toEqual(upTo(3));
    expect(line.requests().at(-1)).toMatch(/^GET \/trpc\/comments\.onTask/);
  });

  test('is server-sent events where there are no WebSockets', async () => {
    vi.stubGlobal('WebSocket', undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
    const taskId = await addTask(admin, projectId);
    const heard = onTask(listen(url), taskId);
    await heard.isLive();
    await say(taskId, 'Heard?');
    await heard.hears(1);
    expect(heard.statuses).toEqual(['connecting', 'live']);
  });

  test('is tried until the service is there', async () => {
    const taskId = await addTask(admin, projectId);
    const proxy = await startProxy(url, 80);
    onTestFinished(() => proxy.close());
    proxy.cut();
    const heard = onTask(listen(proxy.url), taskId);
    await vi.waitUntil(() => proxy.accepted() >= 3, { timeout: 15_000 });
    expect(heard.statuses).toContain('waiting');
    expect(heard.statuses).not.toContain('live');
    proxy.restore();
    await heard.isLive();
  });

  test('is live when it is known where the stream stands: whatever is cut before that is no gap', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(decodeURIComponent(request.url!));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: connected\ndata: {}\n\n');
      // The first is cut before it is known, the second just after.
      const opened = JSON.stringify({ id: 5, type: 'stream.opened', at: '2026-03-02T09:00:00.000Z' });
      if (asked.length > 1) response.write(`id: 5\ndata: ${opened}\n\n`);
      if (asked.length < 3) setTimeout(() => response.destroy(), 20);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    onTestFinished(() => server.closeAllConnections());
    const { port } = server.address() as AddressInfo;
    const heard = onTask(connect(`http://127.0.0.1:${port}`, { events: 'sse' }), 1);
    await vi.waitUntil(() => asked.length === 3 && heard.statuses.at(-1) === 'live', { timeout: 10_000 });
    expect(heard.statuses).toEqual(['connecting', 'waiting', 'connecting', 'live', 'waiting', 'connecting', 'live']);
    expect(asked.map((url) => /"lastEventId":"(\w+)"/.exec(url)![1])).toEqual(['now', 'now', '5']);
  });

  test('closes with the client', async () => {
    const taskId = await addTask(admin, projectId);
    const before = await quiet();
    const client = listen(url);
    const heard = onTask(client, taskId);
    await heard.isLive();
    client.close();
    expect(await heard.ended).toBe('in peace');
    await vi.waitFor(async () => expect(await subscriptions()).toEqual(before));
  });
});
