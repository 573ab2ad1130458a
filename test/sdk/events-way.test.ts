import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startProxy } from '../support/proxy.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { connect, sessionOf } from './clients.ts';
import { countingOf, onTask } from './hearing.ts';
import { startWiretap } from './wiretap.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

const service = await startService();
const { url } = service;
const admin = await service.registerCompany();
const reader = await service.addEmployee(admin);
const { projectId } = await startWork(admin);
const { subscriptions, quiet } = countingOf(service);

const say = (taskId: number, message: string) =>
  admin.trpc.comments.create.mutate({ taskId, sender: admin.employeeId, message });
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const listen = (baseUrl: string) => connect(baseUrl, { session: sessionOf(reader.pair) });

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

  test.each(['websocket', 'auto'] as const)(
    'is server-sent events where %s is asked for and there is none',
    async (events) => {
      vi.stubGlobal('WebSocket', undefined);
      onTestFinished(() => void vi.unstubAllGlobals());
      const taskId = await addTask(admin, projectId);
      const line = await startWiretap(url);
      const heard = onTask(connect(line.url, { session: sessionOf(reader.pair), events }), taskId);
      await heard.isLive();
      await say(taskId, 'Heard?');
      await heard.hears(1);
      expect(line.requests().map((request) => request.replace(/input=.*/, ''))).toEqual(['GET /trpc/comments.onTask?']);
    },
  );

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

  test('stays a WebSocket as long as the browser says that it is offline', async () => {
    const taskId = await addTask(admin, projectId);
    const line = await startWiretap(url);
    const heard = onTask(listen(line.url), taskId);
    await heard.isLive();
    vi.stubGlobal('navigator', { onLine: false });
    onTestFinished(() => void vi.unstubAllGlobals());
    line.refuseUpgrades();
    line.cut();
    await waitUntil(() => line.requests().length >= 5);
    expect(new Set(line.requests())).toEqual(new Set(['GET /trpc?connectionParams=1']));
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
    await waitUntil(() => proxy.accepted() >= 3);
    expect(heard.statuses).toContain('waiting');
    expect(heard.statuses).not.toContain('live');
    proxy.restore();
    await heard.isLive();
  });

  test('is tried again where a proxy knows no service for a while, and not where it never knew one', async () => {
    const taskId = await addTask(admin, projectId);
    const proxy = await startProxy(url, 80);
    onTestFinished(() => proxy.close());
    let isAway = false;
    let refused = 0;
    const client = connect(proxy.url, {
      session: sessionOf(reader.pair),
      events: 'sse',
      async fetch(...request) {
        if (!isAway) return fetch(...request);
        refused += 1;
        return new Response('404 page not found', { status: 404 });
      },
    });
    const heard = onTask(client, taskId);
    await heard.isLive();
    isAway = true;
    expect(await onTask(client, taskId).ended).toBe('UNEXPECTED_ANSWER');
    expect(refused).toBe(1);
    proxy.cut();
    proxy.restore();
    await say(taskId, 'Heard?');
    await waitUntil(() => refused === 3);
    isAway = false;
    await heard.hears(1);
    expect(heard.ids()).toEqual([1]);
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
    await waitUntil(() => asked.length === 3 && heard.statuses.at(-1) === 'live');
    expect(heard.statuses).toEqual(['connecting', 'waiting', 'connecting', 'live', 'waiting', 'connecting', 'live']);
    expect(asked.map((url) => /"lastEventId":"(\w+)"/.exec(url)![1])).toEqual(['now', 'now', '5']);
  });

  test.each([
    [
      'at once',
      () => {
        throw new Error('not shown');
      },
    ],
    ['later', async () => Promise.reject(new Error('not shown'))],
  ])('is left where onStatus fails %s, with its error', async (_when, onStatus) => {
    const taskId = await addTask(admin, projectId);
    const stream = listen(url).comments.onTask({ taskId }, { onStatus });
    await expect(stream.next()).rejects.toThrow('not shown');
    expect(await stream.next()).toMatchObject({ done: true });
  });

  test('ends quietly where it is aborted while onStatus reads', async () => {
    const taskId = await addTask(admin, projectId);
    const client = listen(url);
    const leave = new AbortController();
    const { signal } = leave;
    const onStatus = async () => {
      setTimeout(() => leave.abort(), 50);
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('left'))));
    };
    expect(await client.comments.onTask({ taskId }, { signal, onStatus }).next()).toMatchObject({ done: true });
  });

  test('closes with the client', async () => {
    const taskId = await addTask(admin, projectId);
    const before = await quiet();
    const client = listen(url);
    const heard = onTask(client, taskId);
    await heard.isLive();
    client.close();
    expect(await heard.ended).toBe('in peace');
    await waitFor(async () => expect(await subscriptions()).toEqual(before));
  });
});
