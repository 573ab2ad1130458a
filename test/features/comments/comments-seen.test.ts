import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { insertTask } from '../../support/tasks.ts';

/* Many people who read one chat at once: what they have seen is stored, and keeps nobody else waiting. */

const service = await startService();
const { database } = service;
const readersCount = 24;

let writer: Actor;
let readers: Actor[];
let taskId: number;

beforeAll(async () => {
  writer = await service.registerCompany();
  readers = await Promise.all(Array.from({ length: readersCount }, () => service.addEmployee(writer)));
  taskId = await insertTask(service, writer);
});

async function write(message: string): Promise<number> {
  const { body } = await writer.post('/api/task-chats/', { taskId, sender: writer.employeeId, message });
  return body._id;
}

const read = (actor: Actor) => actor.get(`/api/tasks/chat/${taskId}/`);

async function seenEvents(): Promise<{ comment_ids: number[]; employee_id: number }[]> {
  const { rows } = await sql<{ payload: { comment_ids: number[]; employee_id: number } }>`
    select payload from events where type = 'comment.seen' and company_id = ${writer.companyId} order by sequence`.execute(
    database.db,
  );
  return rows.map((row) => row.payload);
}

test('each view is stored once and told once, however often and by how many the chat is read at once', async () => {
  const ids = [await write('one'), await write('two')];
  const statuses = await Promise.all([...readers, ...readers, ...readers].map(async (one) => (await read(one)).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
  await service.drain();
  const { body } = await read(writer);
  const everybody = readers.map((one) => one.employeeId).toSorted((a, b) => a - b);
  for (const comment of body.comments as { seenBy: { employee_id: number }[] }[])
    expect(comment.seenBy.map((one) => one.employee_id).toSorted((a, b) => a - b)).toEqual(everybody);
  const told = (await seenEvents()).flatMap((one) => one.comment_ids.map((id) => `${one.employee_id} ${id}`));
  expect(told.toSorted()).toEqual(everybody.flatMap((employee) => ids.map((id) => `${employee} ${id}`)).toSorted());
});

describe.skipIf(database.kind === 'embedded')('while the stream of the chat is locked', () => {
  test('its readers get their answers, and others can write', async () => {
    await write('three');
    const holder = database.begin();
    await sql`select 1 from event_streams where company_id = ${writer.companyId} for update`.execute(holder.db);
    try {
      const answers = await Promise.all(readers.map(read));
      expect(new Set(answers.map((one) => one.status))).toEqual(new Set([200]));
      const writes = await Promise.all(
        readers.slice(0, 5).map((one, index) => one.post('/api/projects/', { name: `Beside ${index}` })),
      );
      expect(writes.map((one) => one.status)).toEqual([200, 200, 200, 200, 200]);
    } finally {
      await holder.rollback();
    }
    await service.drain();
    const { body } = await read(writer);
    expect(body.comments.at(-1).seenBy).toHaveLength(readersCount);
  });
});
