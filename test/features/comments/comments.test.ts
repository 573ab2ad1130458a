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

const write = (actor: Actor, body: object) =>
  actor.post('/api/task-chats/', { taskId, sender: actor.employeeId, message: 'Hello', ...body });

async function written(actor: Actor, body: object = {}) {
  const answer = await write(actor, body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

const read = (actor: Actor, task: number) => actor.get(`/api/tasks/chat/${task}/`);

async function countComments(): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from comments where company_id > 0`.execute(
    database.db,
  );
  return rows[0]!.n;
}

describe('a new comment', () => {
  test('is answered whole', async () => {
    const body = await written(grace, {
      message: '<p>Look, @' + ada.email + '</p>',
      ClientSender: 31,
      mentionedEmails: ['GRACE@example.com', 'grace@example.com'],
      image: 'https://files.example.com/plan.png?size=2&page=1',
      unknownField: true,
    });
    expect(body).toEqual({
      _id: expect.any(Number),
      taskId,
      sender: { _id: grace.employeeId, name: grace.name, profilePicture: null },
      ClientSender: 31,
      message: `<p>Look, @${ada.email}</p>`,
      mentionedEmails: ['grace@example.com'],
      mentions: [
        { _id: ada.employeeId, name: ada.name, email: ada.email },
        { _id: grace.employeeId, name: grace.name, email: grace.email },
      ],
      reply_to: null,
      image: 'https://files.example.com/plan.png?size=2&page=1',
      isEdited: false,
      isDeleted: false,
      likes: [],
      likeCount: 0,
      likedByMe: false,
      seenBy: [],
      deepLink: `https://app.example.test/tasks/${taskId}?comment=${body._id}`,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      editedAt: null,
      replies: [],
    });
  });

  test('is written over tRPC as well, and appears in the list', async () => {
    const task = await insertTask(service, ada);
    const { _id } = await grace.trpc.comments.create.mutate({ taskId: task, sender: grace.employeeId, message: 'Hi' });
    const { comments } = await ada.trpc.comments.listByTask.query({ task_id: task });
    expect(comments.map((comment) => comment._id)).toEqual([_id]);
  });

  test('is told to the stream of its task in the same transaction', async () => {
    const task = await insertTask(service, ada);
    const first = await written(grace, { taskId: task });
    await write(grace, { taskId: task, reply_to: 2 ** 40 });
    const second = await written(ada, { taskId: task });
    const events = await database.db
      .selectFrom('events')
      .where('company_id', '=', ada.companyId)
      .where('stream', '=', `task ${task}`)
      .select(['sequence', 'type', 'payload'])
      .orderBy('sequence')
      .execute();
    expect(events).toEqual([
      {
        sequence: 1,
        type: 'comment.created',
        payload: { comment_id: first._id, task_id: task, sender_id: grace.employeeId },
      },
      {
        sequence: 2,
        type: 'comment.created',
        payload: { comment_id: second._id, task_id: task, sender_id: ada.employeeId },
      },
    ]);
  });

  test('is sanitised before it is stored', async () => {
    const { _id, message } = await written(grace, { message: '<b onclick="x()">Hi</b><script>steal()</script>' });
    const shown = '<b>Hi</b>&lt;script&gt;steal()&lt;/script&gt;';
    expect(message).toBe(shown);
    const row = await database.db
      .selectFrom('comments')
      .where('company_id', '=', ada.companyId)
      .where('comment_id', '=', _id)
      .select('message')
      .executeTakeFirstOrThrow();
    expect(row.message).toBe(shown);
  });

  test('of plain text keeps every character, and mentions people as well', async () => {
    const text = `if (x<y) { z>w }\n  &amp; <b>@${ada.email}</b>`;
    const comment = await written(grace, { message: text, format: 'text' });
    expect(comment.message).toBe(`if (x&lt;y) { z&gt;w }<br />\n  &amp;amp; &lt;b&gt;@${ada.email}&lt;/b&gt;`);
    expect(comment.mentions).toMatchObject([{ _id: ada.employeeId }]);
    const again = await grace.patch(`/api/edit-task-chats/${comment._id}/`, { message: comment.message });
    expect(again.body.message).toBe(comment.message);
    const changed = await grace.patch(`/api/edit-task-chats/${comment._id}/`, { message: '1 < 2', format: 'text' });
    expect(changed.body.message).toBe('1 &lt; 2');
  });

  test('may be an image and no words, also when it is edited', async () => {
    const image = 'https://files.example.com/plan.png';
    for (const message of ['', null, undefined])
      expect(await written(grace, { message, image })).toMatchObject({ message: '', image });
    const { _id } = await written(grace, { message: 'words', image });
    const edited = await grace.patch(`/api/edit-task-chats/${_id}/`, { message: '' });
    expect(edited.body).toMatchObject({ message: '', image, isEdited: true });
    const plain = await written(grace, { message: 'words' });
    const refused = await grace.patch(`/api/edit-task-chats/${plain._id}/`, { message: '' });
    expect(errorOf(refused)).toMatchObject({ status: 400, issues: ['message'] });
  });

  test('is written once for the same Idempotency-Key', async () => {
    const task = await insertTask(service, ada);
    const body = { taskId: task, sender: grace.employeeId, message: 'Once' };
    const options = { headers: { 'idempotency-key': 'comment-once' } };
    const answers = [
      await grace.post('/api/task-chats/', body, options),
      await grace.post('/api/task-chats/', body, options),
    ];
    expect(answers[1]!.body).toEqual(answers[0]!.body);
    expect((await read(grace, task)).body.comments).toHaveLength(1);
  });
});

describe('writing a comment', () => {
  test('is refused in the name of another', async () => {
    const before = await countComments();
    for (const sender of [ada.employeeId, eve.employeeId, 2 ** 40])
      expect(errorOf(await write(grace, { sender }))).toEqual({ status: 403, code: 'NOT_THE_SENDER' });
    expect(await countComments()).toBe(before);
  });

  test('is refused without a session', async () => {
    const answer = await anonymous.post('/api/task-chats/', { taskId, sender: grace.employeeId, message: 'x' });
    expect(errorOf(answer)).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
  });

  test('is refused in the same words on a task that is absent, another company’s, deleted or of a deleted project', async () => {
    const deleted = await insertTask(service, ada);
    const orphaned = await insertTask(service, ada);
    const now = service.clock.now();
    await database.db
      .updateTable('tasks')
      .set({ deleted_at: now })
      .where('company_id', '=', ada.companyId)
      .where('task_id', '=', deleted)
      .execute();
    await sql`
      update projects as p set deleted_at = ${now} from tasks as t
      where t.company_id = ${ada.companyId} and t.task_id = ${orphaned}
        and p.company_id = t.company_id and p.project_id = t.project_id`.execute(database.db);
    const foreign = await insertTask(service, eve);

    const before = await countComments();
    const details = new Set<string>();
    for (const task of [2 ** 40, foreign, deleted, orphaned]) {
      const answer = await write(grace, { taskId: task });
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['taskId'] });
      expect(answer.body.issues[0].code).toBe('not_found');
      details.add(answer.body.detail);
    }
    expect(details.size).toBe(1);
    expect(await countComments()).toBe(before);
  });

  test('is refused in reply to what is no comment of this task', async () => {
    const elsewhere = await written(ada, { taskId: await insertTask(service, ada) });
    const foreignTask = await insertTask(service, eve);
    const foreign = await written(eve, { taskId: foreignTask });
    for (const reply_to of [2 ** 40, elsewhere._id, foreign._id]) {
      const answer = await write(grace, { reply_to });
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['reply_to'] });
      expect(answer.body.issues[0]).toMatchObject({ code: 'not_found', message: 'must be a comment of the same task' });
    }
    expect((await read(eve, foreignTask)).body.comments[0].replies).toEqual([]);
  });

  test('names each listed address that is no active employee of the company', async () => {
    const gone = await service.addEmployee(ada);
    await database.db
      .updateTable('employees')
      .set({ is_active: false })
      .where('company_id', '=', ada.companyId)
      .where('employee_id', '=', gone.employeeId)
      .execute();
    const before = await countComments();
    const answer = await write(grace, {
      mentionedEmails: [ada.email, 'nobody@example.com', gone.email, ada.email, eve.email],
    });
    expect(errorOf(answer)).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['mentionedEmails.1', 'mentionedEmails.2', 'mentionedEmails.4'],
    });
    expect(answer.body.issues[0].code).toBe('not_found');
    expect(await countComments()).toBe(before);
  });

  test('takes 20 listed addresses and not 21', async () => {
    expect((await write(grace, { mentionedEmails: Array(20).fill(ada.email) })).status).toBe(200);
    const answer = await write(grace, { mentionedEmails: Array(21).fill(ada.email) });
    expect(errorOf(answer)).toMatchObject({ issues: ['mentionedEmails'] });
  });

  test('takes 64 KiB of UTF-8 and not one byte more, and nothing that is empty for a reader', async () => {
    const most = 'é'.repeat(32 * 1024);
    expect((await written(grace, { message: most })).message).toBe(most);
    const empty = ['', '   ', '<p><br></p>', '&nbsp;\u200b'];
    for (const message of [`${most}a`, ...empty, 'a\0b', '\ud800', 7, null, undefined])
      expect({ message, ...errorOf(await write(grace, { message })) }).toEqual({
        message,
        status: 400,
        code: 'VALIDATION_FAILED',
        issues: ['message'],
      });
  });

  test.each(['html', 'text'])('takes 64 KiB as it is stored and not one byte more, in %s', async (format) => {
    const most = '&'.repeat(13_107);
    const { _id, message } = await written(grace, { message: most, format });
    expect(message).toBe('&amp;'.repeat(13_107));
    const more = await write(grace, { message: `${most}&`, format });
    expect(errorOf(more)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['message'] });
    const edited = await grace.patch(`/api/edit-task-chats/${_id}/`, { message: `${most}&`, format });
    expect(errorOf(edited)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['message'] });
    expect(errorOf(await write(grace, { format: 'markdown' }))).toMatchObject({ issues: ['format'] });
  });

  test('takes an https URL as image and nothing else', async () => {
    const longest = `https://files.example.com/${'a'.repeat(2048 - 26)}`;
    expect((await written(grace, { image: longest })).image).toBe(longest);
    for (const image of [
      `${longest}a`,
      'http://files.example.com/a.png',
      'javascript:alert(1)',
      'data:image/png;base64,AAAA',
      '//files.example.com/a.png',
      'https://',
      'https:files.example.com',
      'https://files.example.com/a b',
      'https://files.example.com/"onerror="x',
      'https://files.example.com/\0',
      '',
      7,
    ])
      expect({ image, ...errorOf(await write(grace, { image })) }).toMatchObject({ image, issues: ['image'] });
  });

  test('names every field that is wrong', async () => {
    const answer = await grace.post('/api/task-chats/', {
      taskId: '12',
      ClientSender: 1.5,
      message: 7,
      mentionedEmails: ['nobody'],
      reply_to: 0,
    });
    expect(errorOf(answer)).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['taskId', 'sender', 'ClientSender', 'message', 'mentionedEmails.0', 'reply_to'],
    });
  });

  test('keeps an @address of nobody as plain text', async () => {
    const { message, mentions } = await written(grace, { message: `@nobody@example.com and @${eve.email}` });
    expect(message).toBe(`@nobody@example.com and @${eve.email}`);
    expect(mentions).toEqual([]);
  });

  test('puts 20 comments that come at once into the stream without a gap', async () => {
    const task = await insertTask(service, ada);
    const answers = await Promise.all(Array.from({ length: 20 }, () => write(grace, { taskId: task })));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const events = await database.db
      .selectFrom('events')
      .where('company_id', '=', ada.companyId)
      .where('stream', '=', `task ${task}`)
      .select('sequence')
      .orderBy('sequence')
      .execute();
    expect(events.map((event) => event.sequence)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});
