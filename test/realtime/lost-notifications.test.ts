import { expect, onTestFinished, test, vi } from 'vitest';
import type { Bus } from '../../db/bus.ts';
import { createDispatcher } from '../../server/events/dispatcher.ts';
import { taskStream } from '../../server/features/comments/task-stream.ts';
import { appendEvent } from '../../server/kernel/append-event.ts';
import type { Member } from '../../server/kernel/context.ts';
import { streamKey, type SubscribeOptions } from '../../server/kernel/streams.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

const service = await startService();
const { services } = service.app;
const admin = await service.registerCompany();
const { companyId, employeeId } = admin;
const { projectId, taskId: busyTaskId } = await startWork(admin);

/** Far beyond what is guaranteed, for a busy machine; a notification that is not made up for is waited for without end. */
const connection = { addSubscription: () => () => {}, ready: () => undefined, reserve: () => {} };

const comment = (taskId: number) => admin.post('/api/task-chats/', { taskId, sender: employeeId, message: 'Look' });

/** Another node on the same database: it is notified of nothing but the busy task, and of that all the time. */
function startBusyNode() {
  let receive: (message: string | undefined) => void = () => {};
  const bus: Bus = { send() {}, listen: (listener) => void (receive = listener), close: async () => {} };
  const notify = (taskId: number) => receive(`another node\n${streamKey(companyId, `task ${taskId}`)}`);
  let isAway = false;
  const database = {
    ...services.database,
    get acrossCompanies() {
      if (isAway) throw new Error('the database is away');
      return services.database.acrossCompanies;
    },
  };
  const dispatcher = createDispatcher({ ...services, database, bus });
  dispatcher.start();
  const pump = setInterval(() => notify(busyTaskId), 10);
  const ended = new AbortController();
  onTestFinished(async () => {
    clearInterval(pump);
    ended.abort();
    await dispatcher.stop();
  });

  /** What a subscriber of this node is told, as it comes. */
  async function subscribe(taskId: number): Promise<string[]> {
    const heard: string[] = [];
    const events = await dispatcher.subscribe(taskStream, {
      subject: taskId,
      viewer: { companyId, employeeId } as Member,
      position: null,
      connection: connection as unknown as SubscribeOptions['connection'],
      signal: ended.signal,
    });
    void (async () => {
      for await (const [id] of events) heard.push(id);
    })();
    return heard;
  }
  return { subscribe, notify, setAway: (value: boolean) => void (isAway = value) };
}

test('an event whose notification is lost arrives, however often other streams wake the node', async () => {
  const node = startBusyNode();
  await node.subscribe(busyTaskId);
  const taskId = await addTask(admin, projectId);
  const heard = await node.subscribe(taskId);
  await comment(taskId);
  await waitFor(() => expect(heard).toEqual(['1']));
  await comment(taskId);
  await waitFor(() => expect(heard).toEqual(['1', '2']));
});

test('a notification that came while the database was away is kept for the next read', async () => {
  const node = startBusyNode();
  const taskId = await addTask(admin, projectId);
  const heard = await node.subscribe(taskId);
  // Time stands still, so that the read once a second cannot make up for the notification.
  const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => now.mockRestore());
  const failures = () => service.log().split('events wait: they could not be read').length - 1;
  await comment(taskId);
  node.setAway(true);
  const before = failures();
  node.notify(taskId);
  await waitUntil(() => failures() > before);
  node.setAway(false);
  await waitFor(() => expect(heard).toEqual(['1']));
});

// So many are read with an estimate of their size first.
test.each([1, 5])(
  'events that cannot be built, %i of them, keep back their own stream, and no other',
  async (count) => {
    const node = startBusyNode();
    const [brokenTaskId, taskId] = [await addTask(admin, projectId), await addTask(admin, projectId)];
    const heardOfBroken = await node.subscribe(brokenTaskId);
    const heard = await node.subscribe(taskId);
    const { db } = services.database.forCompany(companyId);
    for (let appended = 0; appended < count; appended += 1)
      await appendEvent(db, {
        companyId,
        stream: `task ${brokenTaskId}`,
        type: 'comment.created',
        payload: { comment_id: 'not a number' },
        at: new Date(),
      });
    await comment(taskId);
    await waitFor(() => expect(heard).toEqual(['1']));
    expect(heardOfBroken).toEqual([]);
    expect(service.log()).toContain('an event could not be built: its subscribers wait');
  },
);
