import { describe, expect, onTestFinished, test } from 'vitest';
import type { ClientOptions, SessionChange } from 'work-management-client';
import { appendEvent } from '../../server/kernel/append-event.ts';
import { startProxy } from '../support/proxy.ts';
import { password, startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { codeOf, connect, sessionOf } from './clients.ts';
import { countingOf, hear, onTask } from './hearing.ts';
import { startWiretap } from './wiretap.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

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

const { subscriptions, quiet } = countingOf(service);

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
      await waitUntil(() => heard.statuses.at(-1) === 'waiting');
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
    expect((await subscriptions())[1]).toBe(before[1] + 2);
    aborted.stop();
    expect(await aborted.ended).toBe('in peace');
    await waitFor(async () => expect((await subscriptions())[1]).toBe(before[1] + 1));
    left.stop();
    expect(await left.ended).toBe('in peace');
    await waitFor(async () => expect(await subscriptions()).toEqual(before));

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
    await waitFor(async () => expect(await subscriptions()).toEqual(before));
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
    const count = 1_300;
    const transaction = database.begin();
    const stream = `task ${taskId}`;
    for (const number of upTo(count)) {
      const payload = { comment_id: 1_000_000 + number, task_id: taskId };
      await appendEvent(transaction.db, {
        companyId: admin.companyId,
        stream,
        type: 'comment.created',
        payload,
        at: new Date(),
      });
    }
    await transaction.commit();
    service.app.services.streams.notify([`${admin.companyId} ${stream}`]);
    await heard.hears(1);
    released.resolve();
    await heard.hears(count);
    expect(heard.ids()).toEqual(upTo(count));
  });
});
