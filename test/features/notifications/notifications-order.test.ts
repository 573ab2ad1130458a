import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { notify, streamOf } from '../../../server/features/notifications/notify.ts';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { insertTask } from '../../support/tasks.ts';

type Listed = { _id: number; createdAt: string };

const service = await startService();
const admin = await service.registerCompany();

async function listAll(person: Actor): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await person.get(`/notifications/recipient/${person.employeeId}/?page=${page}`);
    all.push(...body.results);
    if (page >= body.totalPages) return all;
  }
}

/** The identifiers of notifications as the person's stream has told of them. */
async function streamed({ companyId, employeeId }: Actor): Promise<number[]> {
  const events = await service.database.db
    .selectFrom('events')
    .where('company_id', '=', companyId)
    .where('stream', '=', streamOf(employeeId))
    .where('type', '=', 'notification.created')
    .select('payload')
    .orderBy('sequence')
    .execute();
  return events.map(({ payload }) => (payload as { notification_id: number }).notification_id);
}

/** All that is listed, after it is held against itself and the stream. */
async function listInOrder(person: Actor): Promise<Listed[]> {
  const listed = await listAll(person);
  const ids = listed.map(({ _id }) => _id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(ids.toSorted((a, b) => b - a));
  const times = listed.map(({ createdAt }) => createdAt);
  expect(times).toEqual(times.toSorted().toReversed());
  expect(ids).toEqual((await streamed(person)).toReversed());
  return listed;
}

test('80 comments at once are listed in the order in which the stream tells of them', async () => {
  const owner = await service.addEmployee(admin);
  const writers = await Promise.all(Array.from({ length: 4 }, () => service.addEmployee(admin)));
  const taskId = await insertTask(service, owner);
  const comment = (writer: Actor) =>
    writer.post('/api/task-chats/', { taskId, sender: writer.employeeId, message: 'Now' });
  const running = Promise.all(Array.from({ length: 80 }, (_, index) => comment(writers[index % 4]!)));
  await Promise.all([running, ...Array.from({ length: 4 }, () => service.app.worker.drain())]);
  await service.drain();
  expect(await listInOrder(owner)).toHaveLength(80);
});

test('a transaction that begins earlier and writes later is listed as newer, and its time says so', async () => {
  const person = await service.addEmployee(admin);
  const tell = (cause: string, from: Date, holdMs: number) =>
    service.database.db.transaction().execute(async (db) => {
      await delay(holdMs);
      const told = {
        recipientId: person.employeeId,
        cause,
        appType: 'task',
        category: 'task',
        priority: 'updates',
        title: cause,
        message: '',
        link: null,
        actorId: null,
      } as const;
      await notify(db, person.companyId, [told], from);
    });
  const start = Date.now();
  // The clocks of nodes differ, and a job may have begun long before it writes.
  const causes = Array.from({ length: 64 }, (_, index) =>
    tell(`cause ${index}`, new Date(start + ((index * 37) % 64) * 1000), (index * 7) % 20),
  );
  await Promise.all(causes);
  expect(await listInOrder(person)).toHaveLength(64);
});
