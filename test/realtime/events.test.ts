import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { appendEvent } from '../../server/kernel/append-event.ts';
import type { Actor } from '../support/actor.ts';
import { overEvents, overWebSocket, type Heard, type Way } from '../support/listener.ts';
import { startProxy } from '../support/proxy.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { waitFor } from '../support/waiting.ts';

const service = await startService();
const { url, database } = service;
const admin = await service.registerCompany();
const colleague = await service.addEmployee(admin);
const neighbour = await service.registerCompany({ name: 'Compilers' });
const { projectId } = await startWork(admin);

const ways: Way[] = [];
const keep = (way: Way): Way => {
  ways.push(way);
  return way;
};
afterEach(() => Promise.all(ways.splice(0).map((way) => way.close())));

async function say(who: Actor, taskId: number, message: string, replyTo?: number): Promise<number> {
  const comment = { taskId, sender: who.employeeId, message, reply_to: replyTo };
  const { status, body } = await who.post('/api/task-chats/', comment);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body._id;
}

const idsOf = (events: Heard[]) => events.map(({ id }) => id);
const typesOf = (events: Heard[]) => events.map(({ type }) => type);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe.each([
  ['a WebSocket', overWebSocket],
  ['server-sent events', overEvents],
] as const)('over %s', (_name, over) => {
  const connect = (who: Actor) => keep(over(url, who.pair));

  test('what happens to comments is told in order, with the comment as its reader sees it', async () => {
    const taskId = await addTask(admin, projectId);
    const [author, reader] = await Promise.all([
      connect(admin).listen('comments.onTask', { taskId }),
      connect(colleague).listen('comments.onTask', { taskId }),
    ]);
    const first = await say(admin, taskId, 'Done?');
    await colleague.get(`/api/tasks/chat/${taskId}/`);
    await service.drain();
    await colleague.post(`/api/like-chat/${colleague.employeeId}/${first}/`);
    await admin.patch(`/api/edit-task-chats/${first}/`, { message: 'All done?' });
    await colleague.post(`/api/dislike-chat/${colleague.employeeId}/${first}/`);
    await admin.delete(`/api/taskchat/${first}/`);

    const heard = await reader.hears(6);
    expect(idsOf(heard)).toEqual(upTo(6));
    expect(typesOf(heard)).toEqual(
      ['created', 'seen', 'liked', 'edited', 'unliked', 'deleted'].map((what) => `comment.${what}`),
    );
    expect(heard[0]).toMatchObject({ taskId, commentId: first, actorId: admin.employeeId });
    expect(heard[0]!.comment).toMatchObject({ _id: first, message: 'Done?', likedByMe: false, likes: [] });
    const seenBy = { employee_id: colleague.employeeId, name: colleague.name, seenAt: heard[1]!.at };
    expect(heard[1]).toMatchObject({ taskId, commentIds: [first], seenBy });
    expect(heard[2]).toMatchObject({ actorId: colleague.employeeId, comment: { likeCount: 1, likedByMe: true } });
    expect((await author.hears(6))[2]).toMatchObject({ comment: { likeCount: 1, likedByMe: false } });
    expect(heard[5]).toMatchObject({ commentId: first, comment: null });
    expect(Object.keys(heard[5]!).slice(0, 3)).toEqual(['id', 'type', 'at']);
    expect(heard[5]!.at).toMatch(/^\d{4}-.*\.\d{3}Z$/);
  });

  test('a person hears of their own notifications, with the count for the badge', async () => {
    const recipient = await service.addEmployee(admin);
    const own = await connect(recipient).listen('notifications.onMine');
    const others = await connect(admin).listen('notifications.onMine');
    const taskId = await addTask(admin, projectId);
    await say(admin, taskId, `Look, @${recipient.email}`);
    await say(admin, taskId, `And here, @${recipient.email}`);
    await service.drain();
    const [first] = await own.hears(2);
    await recipient.patch(`/api/notifications/read/${first!.notificationId}/`);
    await recipient.patch(`/api/notifications/${first!.notificationId}/`, { read: false });
    await recipient.delete(`/notifications/${recipient.employeeId}/clear/`);

    const heard = await own.hears(5);
    expect(idsOf(heard)).toEqual(upTo(5));
    expect(heard.map(({ type, unread, read }) => [type, unread, read])).toEqual([
      ['notification.created', 1, undefined],
      ['notification.created', 2, undefined],
      ['notification.read', 1, true],
      ['notification.updated', 2, false],
      ['notification.deleted', 0, undefined],
    ]);
    expect(heard[0]!.notification).toMatchObject({ recipient_id: recipient.employeeId, isMention: true, read: false });
    expect(heard[2]!.notificationIds).toEqual([first!.notificationId]);
    expect(heard[4]!.notificationIds).toHaveLength(2);
    expect(others.events).toEqual([]);
  });

  test('flags that change make one event with all of them and the count, and those that do not make none', async () => {
    const recipient = await service.addEmployee(admin);
    const taskId = await addTask(admin, projectId);
    await say(admin, taskId, `Look, @${recipient.email}`);
    await service.drain();
    const own = await connect(recipient).listen('notifications.onMine', { lastEventId: '0' });
    const [made] = await own.hears(1);
    const { notificationId } = made!;
    const path = `/api/notifications/${notificationId}/`;
    const changes = [
      { starred: true },
      { starred: true },
      {},
      { isArchive: true, later: true, read: true },
      { read: true, isArchive: true },
      { read: false, starred: false },
      { read: false },
    ];
    for (const change of changes) expect((await recipient.patch(path, change)).status).toBe(200);
    await recipient.patch(`/api/notifications/read/${notificationId}/`);
    await recipient.patch(`/api/notifications/read/${notificationId}/`);
    const heard = (await own.hears(5)).slice(1);
    const type = 'notification.updated';
    expect(heard).toMatchObject([
      { type, notificationId, unread: 1, read: false, starred: true, later: false, isArchive: false },
      { type, notificationId, unread: 0, read: true, starred: true, later: true, isArchive: true },
      { type, notificationId, unread: 1, read: false, starred: false, later: true, isArchive: true },
      { type: 'notification.read', notificationIds: [notificationId], unread: 0, read: true },
    ]);
  });

  test('cuts lose, double and reorder nothing', async () => {
    const taskId = await addTask(admin, projectId);
    const proxy = await startProxy(url, 80);
    onTestFinished(() => proxy.close());
    const way = keep(over(proxy.url.replace(/\/$/, ''), colleague.pair));
    const listener = await way.listen('comments.onTask', { taskId, lastEventId: 'now' });
    const opened = await listener.hears(1);
    expect(opened).toMatchObject([{ id: 0, type: 'stream.opened' }]);
    // Before the first event there is something to come back to already.
    for (let round = 0; round < 2; round += 1) {
      proxy.cut();
      await Promise.all(upTo(8).map((number) => say(admin, taskId, `Round ${round}, ${number}`)));
      proxy.restore();
      await Promise.all(upTo(2).map((number) => say(admin, taskId, `Round ${round} is over, ${number}`)));
      await listener.hears(1 + 10 * (round + 1));
    }
    expect(idsOf(listener.events)).toEqual([0, ...upTo(20)]);
    expect(listener.errorCode()).toBeUndefined();
  });

  test('who comes back gets what they missed, and only that', async () => {
    const taskId = await addTask(admin, projectId);
    // More than is read at once.
    const said = 120;
    for (let first = 1; first <= said; first += 10)
      await Promise.all(upTo(10).map((nth) => say(admin, taskId, `Number ${first + nth - 1}`)));
    const all = await connect(colleague).listen('comments.onTask', { taskId, lastEventId: '0' });
    const some = await connect(colleague).listen('comments.onTask', { taskId, lastEventId: '70' });
    const none = await connect(colleague).listen('comments.onTask', { taskId, lastEventId: String(said) });
    const fresh = await connect(colleague).listen('comments.onTask', { taskId });
    await say(admin, taskId, 'The last');
    expect(idsOf(await all.hears(said + 1))).toEqual(upTo(said + 1));
    expect(idsOf(await some.hears(said + 1 - 70))).toEqual(upTo(said + 1).slice(70));
    expect(idsOf(await none.hears(1))).toEqual([said + 1]);
    expect(idsOf(await fresh.hears(1))).toEqual([said + 1]);
    expect(new Set(typesOf(all.events))).toEqual(new Set(['comment.created']));
  });

  test('who was away for too long is told so, and goes on from there', async () => {
    const taskId = await addTask(admin, projectId);
    for (const number of upTo(3)) await say(admin, taskId, `Number ${number}`);
    await database.db
      .updateTable('events')
      .set({ at: new Date(service.clock.now().getTime() - 7 * 24 * 3_600_000) })
      .where('company_id', '=', admin.companyId)
      .where('stream', '=', `task ${taskId}`)
      .where('sequence', '<', 3)
      .execute();
    await service.app.sweep.run();
    const tooLate = await connect(colleague).listen('comments.onTask', { taskId, lastEventId: '1' });
    const inTime = await connect(colleague).listen('comments.onTask', { taskId, lastEventId: '2' });
    const ofElsewhere = await connect(colleague).listen('comments.onTask', { taskId, lastEventId: '77' });
    await Promise.all([tooLate, inTime, ofElsewhere].map((one) => one.hears(1)));
    await say(admin, taskId, 'Number 4');
    const reset = { id: 3, type: 'stream.reset' };
    const next = { id: 4, type: 'comment.created' };
    expect(await tooLate.hears(2)).toMatchObject([reset, next]);
    expect(await ofElsewhere.hears(2)).toMatchObject([reset, next]);
    expect(idsOf(await inTime.hears(2))).toEqual([3, 4]);
  });

  test('nothing is heard before its commit, or of what was taken back', async () => {
    const taskId = await addTask(admin, projectId);
    const listener = await connect(colleague).listen('comments.onTask', { taskId });
    const refused = await admin.post('/api/task-chats/', {
      taskId,
      sender: admin.employeeId,
      message: 'To nobody',
      mentionedEmails: ['nobody@example.com'],
    });
    expect(refused.status).toBe(400);
    const transaction = database.begin();
    const event = { companyId: admin.companyId, stream: `task ${taskId}`, type: 'comment.created', at: new Date() };
    await appendEvent(transaction.db, { ...event, payload: { comment_id: 1, task_id: taskId } });
    service.app.services.streams.notify([`${admin.companyId} task ${taskId}`]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(listener.events).toEqual([]);
    await transaction.rollback();
    const commentId = await say(admin, taskId, 'To all');
    expect(await listener.hears(1)).toMatchObject([{ id: 1, commentId }]);
  });

  test('another company’s task is as absent as one that is not there, and nothing of it is heard', async () => {
    const { taskId: theirs } = await startWork(neighbour);
    const taskId = await addTask(admin, projectId);
    const way = connect(neighbour);
    const foreign = await way.listen('comments.onTask', { taskId });
    const absent = await way.listen('comments.onTask', { taskId: 987_654_321 });
    expect([await foreign.ends(), await absent.ends()]).toEqual(['NOT_FOUND', 'NOT_FOUND']);
    const listener = await way.listen('comments.onTask', { taskId: theirs });
    const mine = await way.listen('notifications.onMine');
    await say(admin, taskId, `Secret, @${colleague.email}`);
    await service.drain();
    await say(neighbour, theirs, 'Open');
    await listener.hears(1);
    expect(listener.events).toMatchObject([{ id: 1, taskId: theirs }]);
    expect([...foreign.events, ...absent.events, ...mine.events]).toEqual([]);
  });

  test.each(['x', '-1', '1.5', ' 1', '99999999999999999'])('refuses %j as the id of an event', async (lastEventId) => {
    const taskId = await addTask(admin, projectId);
    const listener = await connect(admin).listen('comments.onTask', { taskId, lastEventId });
    expect(await listener.ends()).toBe('VALIDATION_FAILED');
  });
});

test('what is sent is counted', async () => {
  const metrics = async () => (await service.anonymous.get('/metrics')).body as string;
  const way = keep(overWebSocket(url, admin.pair));
  const taskId = await addTask(admin, projectId);
  await way.listen('notifications.onMine');
  const listener = await way.listen('comments.onTask', { taskId });
  const sent = async () => Number(/^events_sent_total (\d+)$/m.exec(await metrics())![1]);
  await waitFor(async () => expect(await metrics()).toMatch(/^event_connections 1$/m));
  expect(await metrics()).toMatch(/^event_subscriptions 2$/m);
  const before = await sent();
  await say(admin, taskId, 'One');
  await listener.hears(1);
  expect(await sent()).toBe(before + 1);
  await way.close();
  ways.splice(0);
  await waitFor(async () => expect(await metrics()).toMatch(/^event_connections 0$/m));
  expect(await metrics()).toMatch(/^event_subscriptions 0$/m);
});
