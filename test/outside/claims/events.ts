import { afterAll, describe, expect, test } from 'vitest';
import { got, headersOf, said } from '../caller.ts';
import { service } from '../running.ts';
import { overEvents, overWebSocket, type Event, type Subscribe, type Subscribed } from '../streams.ts';
import { addComment, addProject, addTask } from '../work.ts';

/*
 * Contract 6: events, and contract 2.5: the WebSocket.
 *
 * Not to be seen from outside: that an event of 7 days ago is gone and `stream.reset` comes first (here for a position that
 * the stream never had), that a client goes on at any other node, and that nothing is heard before its commit
 * (test/realtime/events.test.ts, test/realtime/storm.test.ts, test/faults/process.slow.test.ts).
 */

const { anonymous, url } = service;
const admin = await service.register();
const colleague = await service.join(admin);
const neighbour = await service.register();
const project = await addProject(admin);
const newTask = () => addTask(admin, { projectId: project._id });
const open: Subscribed[] = [];
afterAll(() => open.forEach((one) => one.close()));

const typesOf = (events: Event[]) => events.map(({ type }) => type);
const idsOf = (events: Event[]) => events.map(({ id }) => id);

describe.each<[string, Subscribe]>([
  ['WebSocket', overWebSocket],
  ['server-sent events', overEvents],
])('contract 6, over %s', (_name, over) => {
  const subscribe = async (
    ...call: Parameters<Subscribe> extends [string, ...infer Rest] ? Rest : never
  ): Promise<Subscribed> => {
    const subscribed = await over(url, ...call);
    open.push(subscribed);
    return subscribed;
  };
  const onTask = (taskId: number, lastEventId?: string, who = colleague) =>
    subscribe(who.pair, 'comments.onTask', { taskId, lastEventId });
  const onMine = (who: typeof admin, lastEventId?: string) =>
    subscribe(who.pair, 'notifications.onMine', { lastEventId });

  test('comments.onTask carries created, seen, liked, edited, unliked and deleted', async () => {
    const task = await newTask();
    const heard = await onTask(task._id);
    const { _id } = await addComment(admin, task._id);
    await heard.hears(1);
    got(await colleague.get(`/api/tasks/chat/${task._id}/`));
    await heard.hears(2);
    got(await colleague.post(`/api/like-chat/${colleague._id}/${_id}/`));
    got(await admin.patch(`/api/edit-task-chats/${_id}/`, { message: 'Edited' }));
    got(await colleague.post(`/api/dislike-chat/${colleague._id}/${_id}/`));
    got(await admin.delete(`/api/taskchat/${_id}/`));
    const events = await heard.hears(6);
    expect(typesOf(events)).toEqual(
      ['created', 'seen', 'liked', 'edited', 'unliked', 'deleted'].map((what) => `comment.${what}`),
    );
    expect(idsOf(events)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('each event is {id, type, at, …}, and id is what a client comes back with', async () => {
    const task = await newTask();
    const heard = await onTask(task._id);
    const { _id } = await addComment(admin, task._id, { message: 'Hello' });
    const [event] = await heard.hears(1);
    expect(Object.keys(event!).slice(0, 3)).toEqual(['id', 'type', 'at']);
    expect(event).toMatchObject({
      id: 1,
      trackedId: '1',
      at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      commentId: _id,
      taskId: task._id,
    });
    expect(event!['comment']).toMatchObject({ message: 'Hello' });
  });

  test('notifications.onMine carries created, read, updated and deleted, each with the new unread count', async () => {
    const person = await service.join(admin);
    const heard = await onMine(person);
    await addTask(admin, { projectId: project._id, owner_id: person._id });
    const [created] = await heard.hears(1);
    const id = created!['notificationId'];
    got(await person.patch(`/api/notifications/${id}/`, { starred: true }));
    got(await person.patch(`/api/notifications/read/${id}/`));
    got(await person.patch(`/api/notifications/${id}/`, { read: false }));
    got(await person.delete(`/notifications/${person._id}/clear/`));
    const events = await heard.hears(5);
    expect(events.map(({ type, unread }) => [type, unread])).toEqual([
      ['notification.created', 1],
      ['notification.updated', 1],
      ['notification.read', 0],
      ['notification.updated', 1],
      ['notification.deleted', 0],
    ]);
    expect(idsOf(events)).toEqual([1, 2, 3, 4, 5]);
  });

  test('ids grow without gaps, with many writers at once', async () => {
    const task = await newTask();
    const heard = await onTask(task._id);
    await Promise.all(Array.from({ length: 20 }, (_, nth) => addComment(nth % 2 === 0 ? admin : colleague, task._id)));
    expect(idsOf(await heard.hears(20))).toEqual(Array.from({ length: 20 }, (_, nth) => nth + 1));
  });

  test('who comes back with a lastEventId gets exactly what they missed, once each and in order', async () => {
    const task = await newTask();
    for (let nth = 0; nth < 5; nth += 1) await addComment(admin, task._id);
    const heard = await onTask(task._id, '2');
    await addComment(admin, task._id);
    expect(idsOf(await heard.hears(4))).toEqual([3, 4, 5, 6]);
  });

  test('a position that the stream does not have brings stream.reset first', async () => {
    const task = await newTask();
    await addComment(admin, task._id);
    const heard = await onTask(task._id, '77');
    // What comes before it is within what is to be read again.
    await heard.hears(1);
    await addComment(admin, task._id);
    expect(typesOf(await heard.hears(2))).toEqual(['stream.reset', 'comment.created']);
  });

  test('another company’s task is refused as an absent one is', async () => {
    const task = await newTask();
    for (const taskId of [task._id, 987_654_321])
      expect(await (await onTask(taskId, undefined, neighbour)).errorCode()).toBe('NOT_FOUND');
  });

  test('nobody hears of the notifications of others', async () => {
    const [person, other] = [await service.join(admin), await service.join(admin)];
    const [own, others] = [await onMine(person), await onMine(other)];
    await addTask(admin, { projectId: project._id, owner_id: person._id });
    await own.hears(1);
    expect(others.events).toEqual([]);
  });

  test('a bad token is refused', async () => {
    const bad = { access_token: 'nonsense', refresh_token: 'nonsense' };
    expect(await (await subscribe(bad, 'notifications.onMine')).errorCode()).toBe('INVALID_TOKEN');
  });

  test('the end of a session ends its subscriptions', async () => {
    const person = await service.join(admin);
    const heard = await onMine(person);
    got(await person.post('/logout/'));
    await heard.closed();
    expect(heard.events).toEqual([]);
  });
});

describe('contract 2.5, the WebSocket', () => {
  test('is closed with 4401 when the session ends', async () => {
    const person = await service.join(admin);
    const heard = await overWebSocket(url, person.pair, 'notifications.onMine');
    got(await admin.patch(`/api/employees/${person._id}/`, { is_active: false }));
    expect(await heard.closed()).toBe(4401);
  });

  test('takes no token from a URL, and neither do server-sent events', async () => {
    const { access_token: accessToken, refresh_token: refreshToken } = admin.pair;
    const params = encodeURIComponent(JSON.stringify({ accessToken, refreshToken }));
    for (const query of [`connectionParams=${params}`, `access_token=${accessToken}&refresh_token=${refreshToken}`])
      expect((await anonymous.get(`/trpc/notifications.onMine?${query}`)).status).toBeGreaterThanOrEqual(400);
  });
});

describe('contract 6, server-sent events', () => {
  test('without a proof are 401 before the stream begins', async () => {
    const answer = await anonymous.get('/trpc/notifications.onMine', { accept: 'text/event-stream' });
    expect([answer.status, answer.body.error.data.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  test('have their media type', async () => {
    const ending = new AbortController();
    const answer = await fetch(`${url}/trpc/notifications.onMine`, {
      headers: headersOf(admin.pair),
      signal: ending.signal,
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/event-stream/),
    ]);
    ending.abort();
  });
});

describe('contract 1 and 6, /asyncapi.json', () => {
  test('describes the two subscriptions of the contract and each of their events', async () => {
    const { asyncapi, channels, info } = got(await anonymous.get('/asyncapi.json'));
    expect([asyncapi, info.version]).toEqual(['3.0.0', '2.0.0']);
    const expected = {
      'comments.onTask': ['created', 'edited', 'deleted', 'liked', 'unliked', 'seen'].map((what) => `comment.${what}`),
      'notifications.onMine': ['created', 'read', 'updated', 'deleted'].map((what) => `notification.${what}`),
    };
    for (const [name, types] of Object.entries(expected))
      expect(Object.keys(channels[name].messages)).toEqual(expect.arrayContaining([...types, 'stream.reset']));
  });

  test('the subscriptions are no operations of REST', async () => {
    expect(said(await admin.get('/notifications/onMine/'))).toBe('404 ROUTE_NOT_FOUND');
  });
});
