import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createEventReader, listEvents } from '../../server/events/event-reader.ts';
import { createEventCache } from '../../server/events/event-cache.ts';
import { taskStream } from '../../server/features/comments/task-stream.ts';
import { overWebSocket } from '../support/listener.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';

/* What is held at once for those who come back to much that was said: bytes, not events, are bounded. */

const heldBytesMax = 256 * 1024;
const oneEventBytes = 70_000;

const service = await startService();
const { settings, database } = service.app.services;
const admin = await service.registerCompany();
const { companyId, employeeId } = admin;
const { projectId } = await startWork(admin);
let taskId: number;
let stream: string;

const say = (message: string) => admin.post('/api/task-chats/', { taskId, sender: employeeId, message });
const short = 60;
const long = 20;
const flips = 20;

beforeAll(async () => {
  taskId = await addTask(admin, projectId);
  stream = `task ${taskId}`;
  for (let count = 0; count < short; count += 1) await say('Short');
  for (let count = 0; count < long; count += 1) await say('x'.repeat(60_000));
  // Each event about a comment holds all of it.
  const { body } = await say('y'.repeat(60_000));
  for (let count = 0; count < flips / 2; count += 1)
    for (const flip of ['like-chat', 'dislike-chat']) await admin.post(`/api/${flip}/${employeeId}/${body._id}/`);
}, 60_000);

/** The sizes of what is read, one part after the other, to the end of the stream. */
async function partsAfter(cursor: number): Promise<{ count: number; bytes: number }[]> {
  const parts: { count: number; bytes: number }[] = [];
  for (let at = cursor; ;) {
    // Without what was read before: everything comes from the table.
    const reader = createEventReader({ database, settings }, createEventCache());
    const batch = await reader.readNext(taskStream, { companyId, stream, position: at });
    if (batch.length === 0) return parts;
    expect(batch.map(({ event }) => event.id)).toEqual(batch.map((_, index) => at + index + 1));
    parts.push({ count: batch.length, bytes: batch.reduce((sum, { length }) => sum + length, 0) });
    at += batch.length;
  }
}

describe('what is read at once for a latecomer', () => {
  test('is bounded by bytes, however short the events before were', async () => {
    const parts = await partsAfter(0);
    expect(parts.reduce((sum, { count }) => sum + count, 0)).toBe(short + long + 1 + flips);
    expect(Math.max(...parts.map(({ bytes }) => bytes))).toBeLessThan(heldBytesMax + oneEventBytes);
    // Short ones come together.
    expect(parts[0]!.count).toBeGreaterThanOrEqual(short);
    expect(parts.length).toBeLessThan(20);
  });

  test('counts who has seen a comment, and goes on behind one that is too long by itself', async () => {
    await sql`
      with people as (
        insert into employees (company_id, email, first_name, last_name, search_text, created_at, updated_at)
        select ${companyId}, 'crowd' || n || '@example.com', 'Crowd', 'Member ' || n, ' crowd', now(), now()
        from generate_series(1, 3000) as n returning employee_id
      )
      insert into comment_views (company_id, comment_id, employee_id, seen_at)
      select ${companyId}, c.comment_id, p.employee_id, now() from people as p, (
        select comment_id from comments where company_id = ${companyId} and task_id = ${taskId} order by comment_id limit 6
      ) as c`.execute(service.database.db);
    const parts = await partsAfter(0);
    expect(parts.slice(0, 6).map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(parts.reduce((sum, { count }) => sum + count, 0)).toBe(short + long + 1 + flips);
  });
});

test('what is new is shown in parts of the same size', async () => {
  const cache = createEventCache();
  const reader = createEventReader({ database, settings }, cache);
  const { db } = database.forCompany(companyId);
  const stored = await listEvents(db, [{ companyId, stream, position: short }], 100);
  const parts = await reader.toBatches(taskStream, stored);
  expect(parts.flat()).toEqual(stored);
  for (const part of parts) {
    const events = await reader.load(taskStream, part);
    expect(events.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(heldBytesMax + oneEventBytes);
  }
});

test('a latecomer hears all of it, in order', async () => {
  const way = overWebSocket(service.url, admin.pair);
  onTestFinished(() => way.close());
  const heard = await way.listen('comments.onTask', { taskId, lastEventId: '0' });
  const events = await heard.hears(short + long + 1 + flips);
  expect(events.map(({ id }: { id: number }) => id)).toEqual(events.map((_: unknown, index: number) => index + 1));
});
