import { createTRPCClient, httpBatchLink } from '@trpc/client';
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { inThreadOrder } from '../../server/features/comments/long-comments.ts';
import { assembleThreads, levelsMax } from '../../server/features/comments/threads.ts';
import { batchesOf, JsonStream, messageLengthMax } from '../../server/kernel/wire/json-stream.ts';
import type { AppRouter } from '../../server/router.ts';
import { type Actor, errorOf, headersOf } from '../support/actor.ts';
import { overWebSocket } from '../support/listener.ts';
import { startService } from '../support/service.ts';
import { insertTask } from '../support/tasks.ts';

/* Answers that are sent while they are made are the same as those that are made at once. */

const service = await startService();
const { db } = service.database;
let ada: Actor;
let grace: Actor;
beforeAll(async () => {
  ada = await service.registerCompany();
  grace = await service.addEmployee(ada);
});

type Comment = { _id: number; reply_to: number | null; message: string | null; replies: Comment[] };

/** Comments of the given length, each an answer to the one that `replyTo` names by its place, or to none. */
async function insertComments(count: number, bytes: number, replyTo: (place: number) => number | null) {
  const taskId = await insertTask(service, ada);
  const { rows } = await sql<{ id: number }>`
    select nextval('comments_comment_id_seq') as id from generate_series(1, ${count})`.execute(db);
  const ids = rows.map((row) => row.id).toSorted((a, b) => a - b);
  const parents = ids.map((_, place) => (replyTo(place) === null ? null : ids[replyTo(place)!]!));
  await sql`
    insert into comments (company_id, comment_id, task_id, sender_id, message, reply_to, created_at)
    overriding system value
    select ${ada.companyId}, id, ${taskId}, ${ada.employeeId}, id || repeat('x', ${bytes}), parent, now()
    from unnest(${ids}::bigint[], ${parents}::bigint[]) as c (id, parent)`.execute(db);
  return { taskId, ids, parents };
}

const forest = (ids: number[], parents: (number | null)[]) =>
  assembleThreads(
    ids.map((_id, place): Pick<Comment, '_id' | 'reply_to'> & { replies: Comment[] } => ({
      _id,
      reply_to: parents[place]!,
      replies: [],
    })) as Comment[],
  );
const shapeOf = (comments: Comment[]): unknown[] => comments.map((one) => [one._id, shapeOf(one.replies)]);

/** A client that sends calls of one tick in one request. */
const batching = (actor: Actor) =>
  createTRPCClient<AppRouter>({
    links: [
      httpBatchLink({
        url: `${service.url}/trpc`,
        headers: headersOf(actor.pair),
      }),
    ],
  });

describe('threads in the order in which they are read', () => {
  test('are the same as nested ones, to the last level', () => {
    const parents = fc
      .array(fc.nat(), { maxLength: 60 })
      .map((seeds) => seeds.map((seed, place) => (seed % (place + 1) === 0 ? null : (seed % place) + 1)));
    const deep = Array.from({ length: levelsMax + 20 }, (_, place) => (place === 0 ? null : place));
    fc.assert(
      fc.property(parents, (replyTo) => {
        const ids = replyTo.map((_, place) => place + 1);
        const found = [...inThreadOrder({ ids, parents: replyTo.map((id) => id ?? 0) })];
        const expected: { index: number; level: number }[] = [];
        const walk = (comments: Comment[], level: number) => {
          for (const { _id, replies } of comments) {
            expected.push({ index: _id - 1, level });
            walk(replies, level + 1);
          }
        };
        walk(forest(ids, replyTo), 1);
        expect(found).toEqual(expected);
      }),
      { examples: [[deep]] },
    );
  });
});

describe('the comments of a task that has many', () => {
  test('are all answered, nested, over REST and tRPC, and are seen then', async () => {
    const { taskId, ids, parents } = await insertComments(350, 5_000, (place) =>
      place % 3 === 0 ? null : Math.floor(place / 2),
    );
    const expected = shapeOf(forest(ids, parents));
    const { status, headers, body } = await grace.get(`/api/tasks/chat/${taskId}/`);
    expect({ status, length: headers.get('content-length') }).toEqual({ status: 200, length: null });
    expect(shapeOf(body.comments)).toEqual(expected);
    expect(body.comments[0]).toMatchObject({ message: `${ids[0]}${'x'.repeat(5_000)}`, sender: { name: ada.name } });
    await service.drain();
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from comment_views where company_id = ${ada.companyId} and employee_id = ${grace.employeeId}`.execute(
      db,
    );
    expect(rows[0]!.n).toBe(350);

    const alone = await grace.trpc.comments.listByTask.query({ task_id: taskId });
    expect(shapeOf(alone.comments as Comment[])).toEqual(expected);
    const client = batching(grace);
    const [before, long, refused] = await Promise.allSettled([
      client.comments.listByTask.query({ task_id: await insertTask(service, ada) }),
      client.comments.listByTask.query({ task_id: taskId }),
      client.comments.listByTask.query({ task_id: 999_999 }),
    ]);
    expect(before).toMatchObject({ value: { comments: [] } });
    expect(shapeOf((long as PromiseFulfilledResult<{ comments: Comment[] }>).value.comments)).toEqual(expected);
    expect(refused).toMatchObject({ reason: { data: { code: 'NOT_FOUND' } } });
  });

  test('are those of few that are long as well, and one after another below the last level', async () => {
    const { taskId, ids, parents } = await insertComments(levelsMax + 30, 10, (place) =>
      place === 0 ? null : place - 1,
    );
    const { body } = await ada.get(`/api/tasks/chat/${taskId}/`);
    expect(shapeOf(body.comments)).toEqual(shapeOf(forest(ids, parents)));
    const few = await insertComments(12, 60_000, () => null);
    const answer = await ada.get(`/api/tasks/chat/${few.taskId}/`);
    expect(answer.body.comments.map((one: Comment) => one._id)).toEqual(few.ids);
  });

  test('are nobody else’s', async () => {
    const { taskId } = await insertComments(150, 10, () => null);
    const eve = await service.registerCompany();
    expect(errorOf(await eve.get(`/api/tasks/chat/${taskId}/`))).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  test('come as one message over a WebSocket, up to a length', async () => {
    const socket = overWebSocket(service.url, grace.pair);
    onTestFinished(() => socket.close());
    const some = await insertComments(120, 10, () => null);
    const { comments } = await socket.client.comments.listByTask.query({ task_id: some.taskId });
    expect(comments).toHaveLength(120);
    const many = await insertComments(120, 40_000, () => null);
    await expect(socket.client.comments.listByTask.query({ task_id: many.taskId })).rejects.toMatchObject({
      data: { code: 'VALIDATION_FAILED', issues: [{ path: [], code: 'too_big' }] },
    });
    expect(120 * 40_000).toBeGreaterThan(messageLengthMax);
  });
});

describe('the logs of a task that has many', () => {
  test('are all answered, the newest first, with their sum', async () => {
    const taskId = await insertTask(service, ada);
    await sql`
      insert into task_logs (company_id, task_id, employee_id, project_id, start_time, end_time, description, manual_add, created_at, updated_at)
      select t.company_id, t.task_id, t.owner_id, t.project_id, start, start + interval '1 hour', repeat('d', n % 9000), false, now(), now()
      from tasks as t, generate_series(1, 2500) as n, lateral (select timestamptz '2026-01-01' + (n * 7919 % 2500) * interval '1 minute' as start) as s
      where t.company_id = ${ada.companyId} and t.task_id = ${taskId}`.execute(db);
    const { body } = await grace.get(`/taskLogs/task/${taskId}/`);
    expect(body.totalSeconds).toBe(2500 * 3600);
    const starts = body.taskLogs.map((log: { startTime: string }) => log.startTime);
    expect(starts).toHaveLength(2500);
    expect(starts).toEqual(starts.toSorted().toReversed());
    expect(await grace.trpc.taskLogs.listByTask.query({ taskId })).toEqual(body);
  });
});

describe('a long timesheet', () => {
  test('is the same as JSON and as CSV', async () => {
    const owner = await service.registerCompany();
    const taskId = await insertTask(service, owner);
    await sql`
      with made as (
        insert into accounts (email, created_at, updated_at)
        select 'many' || n || '@example.com', now(), now() from generate_series(1, 60) as n
        returning account_id, email
      ), people as (
        insert into employees (company_id, account_id, email, first_name, last_name, search_text, created_at, updated_at)
        select ${owner.companyId}::bigint, account_id, email, 'P', account_id::text, ' p', now(), now() from made
        returning company_id, employee_id
      )
      insert into task_logs (company_id, task_id, employee_id, project_id, start_time, end_time, manual_add, created_at, updated_at)
      select t.company_id, t.task_id, p.employee_id, t.project_id, start, start + interval '1 hour', false, now(), now()
      from people as p
      join tasks as t on t.company_id = p.company_id and t.task_id = ${taskId},
      generate_series(timestamptz '2026-01-01 12:00Z', '2026-04-10 12:00Z', interval '1 day') as start`.execute(db);
    const path = `/api/timesheets/${owner.companyId}/?from=2026-01-01&to=2026-12-31`;
    const { body } = await owner.get(path);
    expect(body).toMatchObject({ from: '2026-01-01', to: '2026-12-31', groupBy: 'day', totalSeconds: 6000 * 3600 });
    const file = await owner.get(`${path}&format=csv`);
    const lines = file.body.trim().split('\r\n').slice(1, -1);
    expect(body.rows.map((row: object) => Object.values(row).join(','))).toEqual(lines);
    expect(lines).toHaveLength(6000);
    expect(
      await owner.trpc.timesheets.get.query({ company_id: owner.companyId, from: '2026-01-01', to: '2026-12-31' }),
    ).toEqual(body);
  });
});

describe('a stream', () => {
  test('that fails after its first piece breaks off, and one that fails before is a refusal', async () => {
    const texts = async function* (pieces: string[]) {
      yield* pieces;
    };
    expect(await new JsonStream(texts(['{"a":', '[1]', '}'])).collect()).toEqual({ a: [1] });
    await expect(new JsonStream(texts(Array(5).fill('x'.repeat(1_000_000)))).collect()).rejects.toMatchObject({
      issues: [{ code: 'too_big' }],
    });
  });

  test('is cut into batches by number and weight, of one at least', () => {
    const weights = [1, 1, 1, 9, 1, 20, 1, 1];
    const batches = [...batchesOf(weights.keys(), (index) => weights[index]!, { countMax: 3, weightMax: 10 })];
    expect(batches).toEqual([[0, 1, 2], [3, 4], [5], [6, 7]]);
  });
});
