import { describe, expect, test } from 'vitest';
import { changeEvents } from '../../server/features/change-events/catalogue.ts';
import { findEmployeeChanges } from '../../server/features/employees/events.ts';
import { findTaskChanges, inEvent, taskDeleted, taskUpdated } from '../../server/features/tasks/events.ts';
import { recordChange, type ChangeEvent } from '../../server/kernel/change-event.ts';
import { inTransaction } from '../../server/kernel/in-transaction.ts';
import { changeStream } from '../../server/kernel/change-streams.ts';
import { startService } from '../support/service.ts';

/*
 * What the payload of a change event holds: the declared fields, what has changed, and less than 64 KiB.
 */

const service = await startService();
const { companyId } = await service.registerCompany();
const at = new Date('2026-03-01T09:00:00Z');

/** The longest of its kind: a control character has six bytes in JSON. */
const longest = (length: number) => '\u0001'.repeat(length);

const task = {
  _id: 12,
  projectId: 7,
  title: 'Cut the gears',
  description: null as string | null,
  status: 'todo' as const,
  owner_id: 42,
  collaborators: [] as { _id: number; name: string }[],
  dueDate: null,
  estimatedHours: null,
  completedAt: null,
  createdAt: at,
  updatedAt: at,
};

/** Records a change of the task and returns what is stored. */
async function stored(subject: number, payload: Record<string, unknown>, event: ChangeEvent = taskDeleted) {
  const streams = [changeStream.project(subject)] as const;
  const { services } = service.app;
  await inTransaction(services, companyId, async (db) => recordChange(db, event, { companyId, streams, payload, at }));
  const row = await service.database.db
    .selectFrom('events')
    .where('company_id', '=', companyId)
    .where('stream', '=', streams[0])
    .select('payload')
    .executeTakeFirstOrThrow();
  return row.payload;
}

test('each type is declared once', () => {
  const types = changeEvents.map(({ type }) => type);
  expect(types.toSorted()).toEqual([...new Set(types)].toSorted());
  expect(types.length).toBeGreaterThan(15);
});

test('a payload is stored in its documented form, with declared fields only', async () => {
  const secret = { password: 'hunter2' };
  const payload = { actorId: 42, taskId: 12, task: { ...task, ...secret }, ...secret };
  const iso = '2026-03-01T09:00:00.000Z';
  expect(await stored(1, payload)).toEqual({
    actorId: 42,
    taskId: 12,
    task: { ...task, createdAt: iso, updatedAt: iso },
    truncated: false,
  });
});

describe('a long text', () => {
  test('is cut, between characters, and the event says so', async () => {
    const description = `a${'😀'.repeat(600)}`;
    const after = { ...task, description };
    const payload = { actorId: null, taskId: 12, task: after, changes: findTaskChanges(task, after) };
    const cut = `a${'😀'.repeat(499)}`;
    expect(await stored(2, payload, taskUpdated)).toMatchObject({
      task: { description: cut },
      changes: { description: { before: null, after: cut } },
      truncated: true,
    });
  });

  test('leaves the longest event under 64 KiB', async () => {
    const people = (from: number) =>
      Array.from({ length: 100 }, (_, index) => ({ _id: 2 ** 53 - 1 - from - index, name: '漢'.repeat(201) }));
    const before = { ...task, title: longest(300), description: longest(20_000), collaborators: people(0) };
    const after = { ...before, title: `${longest(299)}.`, description: longest(19_999), collaborators: people(100) };
    const payload = { actorId: 42, taskId: 12, task: inEvent(after), changes: findTaskChanges(before, after) };
    const json = JSON.stringify(await stored(3, payload, taskUpdated));
    expect(Buffer.byteLength(json)).toBeGreaterThan(48 * 1024);
    expect(Buffer.byteLength(json)).toBeLessThan(63 * 1024);
  });
});

test('changes name what differs, and nothing else', () => {
  expect(findTaskChanges(task, { ...task, updatedAt: new Date() })).toBeUndefined();
  const owned = { ...task, owner_id: 43, collaborators: [{ _id: 44, name: 'Grace' }] };
  expect(findTaskChanges(task, owned)).toEqual({
    owner_id: { before: 42, after: 43 },
    collaboratorIds: { before: [], after: [44] },
  });
});

test('of what is personal an event says only that it has changed', async () => {
  const { body: employee } = await service
    .signIn((await service.registerCompany()).email)
    .then((admin) => admin.get(`/employee/me/${admin.employeeId}/`));
  const after = { ...employee, salary: 52_000, phone: '+44 20 7946 0958', designation: 'Engineer' };
  expect(findEmployeeChanges(employee as never, after as never)).toEqual({
    salary: { before: null, after: null },
    phone: { before: null, after: null },
    designation: { before: null, after: 'Engineer' },
  });
});
