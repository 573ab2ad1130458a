import { describe, expect, test } from 'vitest';
import { got, said } from '../caller.ts';
import type { Person } from '../people.ts';
import { service } from '../running.ts';
import { addComment, addProject, addTask, fields, fieldsOf } from '../work.ts';
import { waitFor } from '../../support/waiting.ts';

/*
 * Contract 4: comments. What notifications come of them is here as well.
 *
 * Takes too long here: that replies nest up to 500 levels, and deeper ones stand beside the comment that they answer
 * (test/features/comments/comments-threads.test.ts).
 */

const { mails } = service;
const admin = await service.register();
const [author, reader, owner] = [await service.join(admin), await service.join(admin), await service.join(admin)];
const neighbour = await service.register();
const project = await addProject(admin);
const newTask = (more: object = {}) => addTask(owner, { projectId: project._id, ...more });
const record = fields(
  '_id, taskId, sender, ClientSender, message, mentionedEmails, mentions, reply_to, image, isEdited, isDeleted, likes, likeCount, likedByMe, seenBy, deepLink, createdAt, editedAt, replies',
);
const read = async (taskId: number, who: Person = admin) => got(await who.get(`/api/tasks/chat/${taskId}/`)).comments;
const write = (taskId: number, fields: object) =>
  author.post('/api/task-chats/', { taskId, sender: author._id, ...fields });
const stored = async (taskId: number, fields: object): Promise<string> => got(await write(taskId, fields)).message;
const notified = async (who: Person, commentId: number) =>
  got(await who.get(`/notifications/recipient/${who._id}/`)).results.filter(
    (one: { commentId: number }) => one.commentId === commentId,
  );

describe('contract 4, a comment', () => {
  test('has exactly these fields', async () => {
    const task = await newTask();
    const comment = got(
      await write(task._id, { message: 'Hello', ClientSender: 7, image: 'https://example.com/a.png' }),
    );
    expect(fieldsOf(comment)).toEqual(record);
    expect(comment).toMatchObject({
      taskId: task._id,
      sender: { _id: author._id, name: author.name, profilePicture: null },
      ClientSender: 7,
      message: 'Hello',
      mentionedEmails: [],
      mentions: [],
      reply_to: null,
      image: 'https://example.com/a.png',
      isEdited: false,
      isDeleted: false,
      likes: [],
      likeCount: 0,
      likedByMe: false,
      editedAt: null,
      replies: [],
    });
  });

  test('has a deep link to the app that names the task and the comment', async () => {
    const task = await newTask();
    const { deepLink, _id } = await addComment(author, task._id);
    expect(deepLink).toContain('https://app.example.test');
    expect(deepLink).toContain(String(task._id));
    expect(deepLink).toContain(String(_id));
  });

  test('lists who likes it and who has seen it', async () => {
    const task = await newTask();
    const { _id } = await addComment(author, task._id);
    got(await reader.post(`/api/like-chat/${reader._id}/${_id}/`));
    await read(task._id, reader);
    await waitFor(async () => {
      const [comment] = await read(task._id);
      expect(comment.likes).toEqual([{ employee_id: reader._id, name: reader.name }]);
      expect(comment.seenBy).toContainEqual({
        employee_id: reader._id,
        name: reader.name,
        seenAt: expect.stringMatching(/Z$/),
      });
    });
  });
});

describe('contract 4, GET /api/tasks/chat/{task_id}/', () => {
  test('nests replies to any depth, oldest first', async () => {
    const task = await newTask();
    const first = await addComment(author, task._id, { message: 'first' });
    const second = await addComment(reader, task._id, { message: 'second' });
    const reply = await addComment(reader, task._id, { message: 'reply', reply_to: first._id });
    await addComment(author, task._id, { message: 'deeper', reply_to: reply._id });
    await addComment(author, task._id, { message: 'later reply', reply_to: first._id });
    const comments = await read(task._id);
    expect(comments.map((one: { _id: number }) => one._id)).toEqual([first._id, second._id]);
    expect(comments[0].replies.map((one: { message: string }) => one.message)).toEqual(['reply', 'later reply']);
    expect(comments[0].replies[0].replies[0].message).toBe('deeper');
  });

  test('marks what was read as seen by the caller, not by its author', async () => {
    const task = await newTask();
    await addComment(author, task._id);
    await read(task._id, author);
    await read(task._id, reader);
    await waitFor(async () => {
      const [{ seenBy }] = await read(task._id, reader);
      expect(seenBy.map((one: { employee_id: number }) => one.employee_id)).toEqual([reader._id]);
    });
  });

  test('of a task of another company, or of none, is 404', async () => {
    const task = await newTask();
    expect(said(await neighbour.get(`/api/tasks/chat/${task._id}/`))).toBe('404 NOT_FOUND');
    expect(said(await admin.get('/api/tasks/chat/987654321/'))).toBe('404 NOT_FOUND');
  });
});

describe('contract 4, POST /api/task-chats/, the text', async () => {
  const task = await newTask();

  test('is rich text that is sanitised', async () => {
    expect(await stored(task._id, { message: '<p>Hello <b>world</b></p>' })).toBe('<p>Hello <b>world</b></p>');
    for (const evil of [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '<b onclick="alert(1)">x</b>',
      '<a href="javascript:alert(1)">x</a>',
      '<iframe src="https://evil.example"></iframe>',
    ]) {
      const message = await stored(task._id, { message: evil });
      expect(message).not.toMatch(/<(script|img|iframe)|onclick=|href="javascript/i);
    }
  });

  test('shows markup that is not allowed as text', async () => {
    expect(await stored(task._id, { message: '<script>alert(1)</script>' })).toBe(
      '&lt;script&gt;alert(1)&lt;/script&gt;',
    );
    expect(await stored(task._id, { message: 'if (x<y) { z>w }' })).toBe('if (x&lt;y) { z&gt;w }');
  });

  test('with format text is escaped, and nothing of it is lost', async () => {
    expect(await stored(task._id, { message: '<b>a</b> & "b"', format: 'text' })).toBe(
      '&lt;b&gt;a&lt;/b&gt; &amp; "b"',
    );
  });

  test('with another format is a 400 that lists them', async () => {
    const answer = await write(task._id, { message: 'x', format: 'markdown' });
    expect(said(answer)).toBe('400 VALIDATION_FAILED format:invalid_value');
    expect(answer.body.issues[0].message).toMatch(/html.*text/);
  });

  test('may be empty where an image is set, and not otherwise', async () => {
    const image = 'https://example.com/a.png';
    for (const message of ['', null, undefined]) {
      expect(said(await write(task._id, { message, image }))).toBe('200');
      expect(said(await write(task._id, { message }))).toMatch(/^400 VALIDATION_FAILED message:/);
    }
  });

  test('has an https URL as image, which the server never fetches', async () => {
    for (const image of ['http://example.com/a.png', 'javascript:alert(1)', 'data:image/png;base64,AA', 'a.png'])
      expect(said(await write(task._id, { message: 'x', image }))).toMatch(/^400 VALIDATION_FAILED image:/);
    // Nobody listens there.
    expect(got(await write(task._id, { message: 'x', image: 'https://127.0.0.1:1/a.png' })).image).toBe(
      'https://127.0.0.1:1/a.png',
    );
  });

  test('has an integer or null as ClientSender', async () => {
    expect(got(await write(task._id, { message: 'x', ClientSender: null })).ClientSender).toBeNull();
    for (const ClientSender of ['7', 1.5, {}])
      expect(said(await write(task._id, { message: 'x', ClientSender }))).toBe(
        '400 VALIDATION_FAILED ClientSender:invalid_type',
      );
  });

  test('replies to a comment of the same task', async () => {
    const other = await newTask();
    const elsewhere = await addComment(author, other._id);
    for (const reply_to of [elsewhere._id, 987_654_321])
      expect(said(await write(task._id, { message: 'x', reply_to }))).toBe('400 VALIDATION_FAILED reply_to:not_found');
    const here = await addComment(author, task._id);
    expect(got(await write(task._id, { message: 'x', reply_to: here._id })).reply_to).toBe(here._id);
  });
});

describe('contract 4, POST /api/task-chats/, mentions', () => {
  test('are taken from mentionedEmails and from @address in the text', async () => {
    const task = await newTask();
    const comment = got(await write(task._id, { message: `Look, @${reader.email}`, mentionedEmails: [admin.email] }));
    expect(new Set(comment.mentions.map((one: { _id: number }) => one._id))).toEqual(new Set([admin._id, reader._id]));
    expect(comment.mentions).toContainEqual({ _id: reader._id, name: reader.name, email: reader.email });
    expect(comment.mentionedEmails).toEqual(expect.arrayContaining([admin.email]));
  });

  test('are at most 20', async () => {
    const task = await newTask();
    const mentionedEmails = Array.from({ length: 21 }, (_, nth) => `nobody${nth}@example.com`);
    expect(said(await write(task._id, { message: 'x', mentionedEmails }))).toMatch(
      /^400 VALIDATION_FAILED mentionedEmails:too_big/,
    );
  });

  test('of who is no active employee of the company are a 400 naming the address, and nothing is stored', async () => {
    const task = await newTask();
    for (const email of [neighbour.email, 'nobody@example.com']) {
      const answer = await write(task._id, { message: 'x', mentionedEmails: [reader.email, email] });
      expect(said(answer)).toBe('400 VALIDATION_FAILED mentionedEmails.1:not_found');
      expect(JSON.stringify(answer.body)).toContain(email);
    }
    expect(await read(task._id)).toEqual([]);
  });

  test('in the text that are nobody’s stay plain text', async () => {
    const task = await newTask();
    const comment = got(await write(task._id, { message: `Hi @nobody@example.com and @${neighbour.email}` }));
    expect(comment.mentions).toEqual([]);
    expect(comment.message).toContain('@nobody@example.com');
  });

  test('notify the mentioned, also by mail', async () => {
    const task = await newTask();
    const comment = got(await write(task._id, { message: 'Look at the gears', mentionedEmails: [reader.email] }));
    // Those of earlier comments may still be on their way.
    await waitFor(async () =>
      expect(mails.all()).toContainEqual(
        expect.objectContaining({
          to: reader.email,
          template: 'mention',
          text: expect.stringContaining('Look at the gears') as string,
        }),
      ),
    );
    await waitFor(async () =>
      expect(await notified(reader, comment._id)).toMatchObject([
        { isMention: true, category: 'message', taskId: task._id, projectId: project._id, actor: { _id: author._id } },
      ]),
    );
  });

  test('and new comments notify the task’s owner and collaborators, not the author', async () => {
    const task = await newTask({ collaboratorIds: [reader._id, author._id] });
    const { _id } = await addComment(author, task._id);
    for (const who of [owner, reader])
      await waitFor(async () =>
        expect(await notified(who, _id)).toMatchObject([{ isMention: false, app_type: 'task', category: 'message' }]),
      );
    expect(await notified(author, _id)).toEqual([]);
    expect(await notified(admin, _id)).toEqual([]);
  });
});

describe('contract 4, PATCH /api/edit-task-chats/{comment_id}/', () => {
  test('replaces message and mentions, and sets isEdited', async () => {
    const task = await newTask();
    const { _id } = got(await write(task._id, { message: 'Old', mentionedEmails: [reader.email] }));
    const edited = got(
      await author.patch(`/api/edit-task-chats/${_id}/`, {
        message: 'New <i>text</i>',
        mentionedEmails: [admin.email],
      }),
    );
    expect(fieldsOf(edited)).toEqual(record);
    expect(edited).toMatchObject({ message: 'New <i>text</i>', isEdited: true, editedAt: expect.stringMatching(/Z$/) });
    expect(edited.mentions.map((one: { _id: number }) => one._id)).toEqual([admin._id]);
  });

  test('notifies only the newly mentioned again', async () => {
    const task = await newTask();
    const { _id } = got(await write(task._id, { message: 'One', mentionedEmails: [reader.email] }));
    await waitFor(async () => expect(await notified(reader, _id)).toHaveLength(1));
    got(
      await author.patch(`/api/edit-task-chats/${_id}/`, {
        message: 'Two',
        mentionedEmails: [reader.email, admin.email],
      }),
    );
    await waitFor(async () => expect(await notified(admin, _id)).toHaveLength(1));
    expect(await notified(reader, _id)).toHaveLength(1);
  });
});

describe('contract 4, DELETE /api/taskchat/{comment_id}/', () => {
  test('removes a comment without replies', async () => {
    const task = await newTask();
    const { _id } = await addComment(author, task._id);
    expect(got(await author.delete(`/api/taskchat/${_id}/`))).toEqual({ success: true });
    expect(await read(task._id)).toEqual([]);
    expect(said(await author.delete(`/api/taskchat/${_id}/`))).toBe('404 NOT_FOUND');
  });

  test('leaves a tombstone of one with replies', async () => {
    const task = await newTask();
    const { _id } = await addComment(author, task._id, { message: 'Secret', image: 'https://example.com/secret.png' });
    await addComment(reader, task._id, { reply_to: _id, message: 'Reply' });
    got(await author.delete(`/api/taskchat/${_id}/`));
    const [tombstone] = await read(task._id);
    expect(tombstone).toMatchObject({ _id, isDeleted: true, message: null, image: null });
    expect(tombstone.replies[0].message).toBe('Reply');
    expect(JSON.stringify(tombstone)).not.toMatch(/secret/i);
  });
});

describe('contract 4, like and dislike', () => {
  test('answer likeCount and likedByMe, and are idempotent', async () => {
    const task = await newTask();
    const { _id } = await addComment(author, task._id);
    const ask = async (what: string, who: Person) => got(await who.post(`/api/${what}-chat/${who._id}/${_id}/`));
    expect(await ask('like', reader)).toEqual({ likeCount: 1, likedByMe: true });
    expect(await ask('like', reader)).toEqual({ likeCount: 1, likedByMe: true });
    expect(await ask('like', admin)).toEqual({ likeCount: 2, likedByMe: true });
    expect(await ask('dislike', reader)).toEqual({ likeCount: 1, likedByMe: false });
    expect(await ask('dislike', reader)).toEqual({ likeCount: 1, likedByMe: false });
    expect((await read(task._id, reader))[0]).toMatchObject({ likeCount: 1, likedByMe: false });
    expect((await read(task._id, admin))[0]).toMatchObject({ likeCount: 1, likedByMe: true });
  });

  test('a like notifies the author and the task’s collaborators, not who likes', async () => {
    const task = await newTask({ collaboratorIds: [admin._id, reader._id] });
    const { _id } = await addComment(author, task._id);
    got(await reader.post(`/api/like-chat/${reader._id}/${_id}/`));
    const likes = async (who: Person) =>
      (await notified(who, _id)).filter((one: { priorty: string }) => one.priorty === 'activity');
    for (const who of [author, admin]) await waitFor(async () => expect(await likes(who)).toHaveLength(1));
    expect(await likes(reader)).toEqual([]);
  });
});
