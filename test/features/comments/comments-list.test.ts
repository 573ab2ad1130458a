import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { insertTask } from '../../support/tasks.ts';

const service = await startService();
const { database, anonymous } = service;

let ada: Actor;
let grace: Actor;
let eve: Actor;
let taskId: number;

beforeAll(async () => {
  ada = await service.registerCompany({ firstName: 'Ada' });
  grace = await service.addEmployee(ada, { email: 'grace@example.com', last_name: 'Hopper' });
  eve = await service.registerCompany({ name: 'Rivals', firstName: 'Eve' });
  taskId = await insertTask(service, ada);
});

async function written(actor: Actor, body: object) {
  const answer = await actor.post('/api/task-chats/', { sender: actor.employeeId, message: 'Hello', ...body });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

const read = (actor: Actor, task: number) => actor.get(`/api/tasks/chat/${task}/`);

describe('the comments of a task', () => {
  test('are refused to another company as if the task were not there', async () => {
    const foreign = await read(eve, taskId);
    const absent = await read(eve, 2 ** 40);
    expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...absent.body, requestId: '' });
    expect(errorOf(await anonymous.get(`/api/tasks/chat/${taskId}/`))).toMatchObject({ status: 401 });
  });

  test('are an empty list where nobody has said anything', async () => {
    const task = await insertTask(service, ada);
    expect(await read(grace, task)).toMatchObject({ status: 200, body: { comments: [] } });
  });

  test('are threads, the oldest first on every level, without those of other tasks', async () => {
    const task = await insertTask(service, ada);
    const say = async (message: string, reply_to: number | null = null): Promise<number> =>
      (await written(grace, { taskId: task, message, reply_to }))._id;
    const a = await say('a');
    const b = await say('b');
    const a1 = await say('a1', a);
    const b1 = await say('b1', b);
    const a2 = await say('a2', a);
    const a11 = await say('a11', a1);
    await say('a111', a11);
    await say('a12', a1);
    await say('a21', a2);
    await say('b11', b1);
    type Thread = { message: string; reply_to: number | null; replies: Thread[] };
    const outline = (threads: Thread[]): unknown => threads.map((one) => [one.message, outline(one.replies)]);
    const { comments } = (await read(ada, task)).body;
    expect(outline(comments)).toEqual([
      [
        'a',
        [
          [
            'a1',
            [
              ['a11', [['a111', []]]],
              ['a12', []],
            ],
          ],
          ['a2', [['a21', []]]],
        ],
      ],
      ['b', [['b1', [['b11', []]]]]],
    ]);
    expect(comments[0].replies[0]).toMatchObject({ _id: a1, reply_to: a });
  });

  test('show who likes them, and whether the caller does', async () => {
    const task = await insertTask(service, ada);
    const { _id } = await written(grace, { taskId: task });
    const other = await written(grace, { taskId: task });
    const now = service.clock.now();
    await database.db
      .insertInto('comment_likes')
      .values([
        { company_id: ada.companyId, comment_id: _id, employee_id: grace.employeeId, created_at: now },
        { company_id: ada.companyId, comment_id: _id, employee_id: ada.employeeId, created_at: new Date(+now + 1) },
        { company_id: ada.companyId, comment_id: other._id, employee_id: grace.employeeId, created_at: now },
      ])
      .execute();
    const { comments } = (await read(ada, task)).body;
    expect(comments[0]).toMatchObject({
      likes: [
        { employee_id: grace.employeeId, name: grace.name },
        { employee_id: ada.employeeId, name: ada.name },
      ],
      likeCount: 2,
      likedByMe: true,
    });
    expect(comments[1]).toMatchObject({ likeCount: 1, likedByMe: false });
  });

  test('show everybody who is mentioned, however many they are', async () => {
    const { db } = database;
    const crowded = await service.registerCompany({ name: 'Crowd' });
    const { companyId } = crowded;
    const task = await insertTask(service, crowded);
    for (let count = 0; count < 100; count += 1) await written(crowded, { taskId: task });
    await sql`
      insert into employees (company_id, email, first_name, last_name, search_text, created_at, updated_at)
      select ${companyId}, 'crowd' || n || '@example.com', 'Crowd', n, ' crowd', now(), now()
      from generate_series(1, 110) as n`.execute(db);
    await sql`
      insert into comment_mentions (company_id, comment_id, employee_id)
      select c.company_id, c.comment_id, e.employee_id
      from comments as c join employees as e on e.company_id = c.company_id and e.first_name = 'Crowd'
      where c.company_id = ${companyId} and c.task_id = ${task}`.execute(db);
    const { comments } = (await read(crowded, task)).body;
    const numbers = comments.map((comment: { mentions: unknown[] }) => comment.mentions.length);
    expect(numbers).toEqual(Array(100).fill(110));
  });

  test('show a deleted one as a tombstone without what it said, its replies in place', async () => {
    const task = await insertTask(service, ada);
    const said = { message: 'secret', mentionedEmails: [ada.email], image: 'https://files.example.com/secret.png' };
    const { _id } = await written(grace, { taskId: task, ...said });
    await written(ada, { taskId: task, reply_to: _id, message: 'a reply' });
    await database.db
      .updateTable('comments')
      .set({ is_deleted: true })
      .where('company_id', '=', ada.companyId)
      .where('comment_id', '=', _id)
      .execute();
    await written(grace, { taskId: task, reply_to: _id, message: 'another' });
    const answer = await read(ada, task);
    expect(answer.body.comments).toMatchObject([
      {
        _id,
        isDeleted: true,
        message: null,
        image: null,
        mentionedEmails: [],
        mentions: [],
        replies: [{ message: 'a reply' }, { message: 'another' }],
      },
    ]);
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });
});

describe('reading', () => {
  test('marks the comments of others as seen after the answer, and keeps the first time', async () => {
    const task = await insertTask(service, ada);
    const own = await written(ada, { taskId: task, message: 'mine' });
    await written(grace, { taskId: task, message: 'hers', reply_to: own._id });

    const first = (await read(ada, task)).body.comments;
    expect(first[0].replies[0].seenBy).toEqual([]);
    await service.drain();
    service.clock.advance({ minutes: 5 });
    const second = (await read(ada, task)).body.comments;
    expect(second[0].seenBy).toEqual([]);
    const seen = { employee_id: ada.employeeId, name: ada.name, seenAt: expect.any(String) };
    expect(second[0].replies[0].seenBy).toEqual([seen]);
    await service.drain();

    const third = (await read(grace, task)).body.comments;
    expect(third[0].replies[0].seenBy).toEqual(second[0].replies[0].seenBy);
    await service.drain();
    expect((await read(ada, task)).body.comments[0].seenBy).toMatchObject([{ employee_id: grace.employeeId }]);
  });

  test('marks once, however many read at once', async () => {
    const task = await insertTask(service, ada);
    await written(grace, { taskId: task });
    const answers = await Promise.all(Array.from({ length: 10 }, () => read(ada, task)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    await service.drain();
    expect((await read(grace, task)).body.comments[0].seenBy).toHaveLength(1);
    expect(service.log()).not.toContain('background work failed');
  });

  test('does not mark what was written after it', async () => {
    const task = await insertTask(service, ada);
    await written(grace, { taskId: task, message: 'before' });
    await read(ada, task);
    await written(grace, { taskId: task, message: 'after' });
    await service.drain();
    const { comments } = (await read(grace, task)).body;
    expect(comments.map((comment: { seenBy: unknown[] }) => comment.seenBy.length)).toEqual([1, 0]);
  });
});
