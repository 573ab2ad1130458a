import { beforeAll, describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { insertTask } from '../../support/tasks.ts';

const service = await startService();
const { mailbox } = service;

let owner: Actor;
let author: Actor;
let reader: Actor;
let outsider: Actor;
let taskId: number;

beforeAll(async () => {
  owner = await service.registerCompany({ firstName: 'Ada' });
  author = await service.addEmployee(owner);
  reader = await service.addEmployee(owner);
  outsider = await service.registerCompany({ name: 'Rivals' });
  taskId = await insertTask(service, owner, { collaborators: [reader] });
  await service.drain();
});

type Written = { _id: number; message: string | null; replies: Written[] };

async function write(actor: Actor, body: object = {}): Promise<Written> {
  const answer = await actor.post('/api/task-chats/', { taskId, sender: actor.employeeId, message: 'Hello', ...body });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body as Written;
}

const edit = (actor: Actor, id: number, body: object) => actor.patch(`/api/edit-task-chats/${id}/`, body);
const remove = (actor: Actor, id: number) => actor.delete(`/api/taskchat/${id}/`);
const like = (actor: Actor, id: number) => actor.post(`/api/like-chat/${actor.employeeId}/${id}/`);
const unlike = (actor: Actor, id: number) => actor.post(`/api/dislike-chat/${actor.employeeId}/${id}/`);
const list = async (actor: Actor): Promise<Written[]> => (await actor.get(`/api/tasks/chat/${taskId}/`)).body.comments;
const shown = async (id: number) => (await list(owner)).find((one) => one._id === id);
const notificationsOf = async (actor: Actor, commentId: number) => {
  await service.drain();
  const { body } = await actor.get(`/notifications/recipient/${actor.employeeId}/`);
  return (body.results as { commentId: number; isMention: boolean; priorty: string }[]).filter(
    (one) => one.commentId === commentId,
  );
};

describe('an edit', () => {
  test('replaces message and mentions, and marks the comment as edited', async () => {
    const comment = await write(author, { mentionedEmails: [reader.email] });
    const { status, body } = await edit(author, comment._id, {
      message: '<b onclick="x">New</b>',
      mentionedEmails: [],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      _id: comment._id,
      message: '<b>New</b>',
      mentionedEmails: [],
      mentions: [],
      isEdited: true,
    });
    expect(body.editedAt).not.toBeNull();
    expect(await shown(comment._id)).toMatchObject({ message: '<b>New</b>', isEdited: true });
  });

  test('leaves what is not sent as it is', async () => {
    const comment = await write(author, { mentionedEmails: [reader.email] });
    expect((await edit(author, comment._id, { message: 'Only words' })).body).toMatchObject({
      message: 'Only words',
      mentionedEmails: [reader.email],
      mentions: [{ _id: reader.employeeId }],
    });
    expect((await edit(author, comment._id, { mentionedEmails: [owner.email] })).body).toMatchObject({
      message: 'Only words',
      mentions: [{ _id: owner.employeeId }],
    });
  });

  test('of a message that names 100 addresses leaves the listed mentions as they are', async () => {
    const comment = await write(author, { mentionedEmails: [reader.email] });
    const message = Array.from({ length: 100 }, (_, index) => `@nobody${index}@example.com`).join(' ');
    expect((await edit(author, comment._id, { message })).body).toMatchObject({
      mentionedEmails: [reader.email],
      mentions: [{ _id: reader.employeeId }],
    });
  });

  test('tells only people who were not mentioned before, each once', async () => {
    const comment = await write(author, { mentionedEmails: [reader.email] });
    await service.drain();
    const before = { reader: mailbox.to(reader.email).length, owner: mailbox.to(owner.email).length };
    await edit(author, comment._id, { mentionedEmails: [reader.email, owner.email] });
    await service.drain();
    await edit(author, comment._id, { mentionedEmails: [reader.email] });
    await edit(author, comment._id, { mentionedEmails: [reader.email, owner.email] });
    await service.drain();
    expect(mailbox.to(reader.email).length - before.reader).toBe(0);
    expect(mailbox.to(owner.email).length - before.owner).toBe(1);
    expect((await notificationsOf(owner, comment._id)).filter((one) => one.isMention)).toHaveLength(1);
  });

  test('is for the author only, and changes nothing for others', async () => {
    const comment = await write(author);
    expect(errorOf(await edit(owner, comment._id, { message: 'Mine' }))).toEqual({
      status: 403,
      code: 'NOT_THE_AUTHOR',
    });
    expect(errorOf(await edit(outsider, comment._id, { message: 'Mine' }))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await edit(author, 999_999, { message: 'Mine' }))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(await shown(comment._id)).toMatchObject({ message: 'Hello', isEdited: false });
  });

  test('refuses an empty message and people who are not there, by naming them', async () => {
    const comment = await write(author);
    expect(errorOf(await edit(author, comment._id, { message: '<p></p>' }))).toMatchObject({
      status: 400,
      issues: ['message'],
    });
    const answer = await edit(author, comment._id, { mentionedEmails: [outsider.email] });
    expect(errorOf(answer)).toMatchObject({ status: 400, issues: ['mentionedEmails.0'] });
    expect(await shown(comment._id)).toMatchObject({ message: 'Hello', isEdited: false });
  });
});

describe('a deletion', () => {
  test('takes a comment without replies away, for author and task owner', async () => {
    const [mine, theirs] = [await write(author), await write(author)];
    expect((await remove(author, mine._id)).body).toEqual({ success: true });
    expect((await remove(owner, theirs._id)).body).toEqual({ success: true });
    expect(await shown(mine._id)).toBeUndefined();
    expect(await shown(theirs._id)).toBeUndefined();
    expect(errorOf(await remove(author, mine._id))).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  test('leaves a tombstone where there are replies, which goes with the last of them', async () => {
    const comment = await write(author, { message: 'Secret', mentionedEmails: [reader.email] });
    const reply = await write(reader, { reply_to: comment._id });
    await like(reader, comment._id);
    await remove(author, comment._id);
    expect(await shown(comment._id)).toMatchObject({
      isDeleted: true,
      message: null,
      mentions: [],
      mentionedEmails: [],
      likeCount: 0,
      replies: [{ _id: reply._id, message: 'Hello' }],
    });
    expect(errorOf(await edit(author, comment._id, { message: 'Back' }))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await like(reader, comment._id))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await remove(author, comment._id))).toEqual({ status: 404, code: 'NOT_FOUND' });
    await remove(reader, reply._id);
    expect(await shown(comment._id)).toBeUndefined();
  });

  test('is refused to anyone else', async () => {
    const comment = await write(author);
    expect(errorOf(await remove(reader, comment._id))).toEqual({ status: 403, code: 'NOT_THE_AUTHOR_OR_OWNER' });
    expect(errorOf(await remove(outsider, comment._id))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(await shown(comment._id)).toMatchObject({ message: 'Hello' });
  });

  test('and replies at once leave no reply without its parent', async () => {
    const comment = await write(author);
    const replies = Array.from({ length: 10 }, () =>
      reader.post('/api/task-chats/', { taskId, sender: reader.employeeId, message: 'Re', reply_to: comment._id }),
    );
    const [, ...answers] = await Promise.all([remove(author, comment._id), ...replies]);
    const written = answers.filter(({ status }) => status === 200).length;
    expect((await shown(comment._id))?.replies.length ?? 0).toBe(written);
  });
});

describe('a like', () => {
  test('counts once and can be taken back, both as often as one wants', async () => {
    const comment = await write(author);
    expect((await like(reader, comment._id)).body).toEqual({ likeCount: 1, likedByMe: true });
    expect((await like(reader, comment._id)).body).toEqual({ likeCount: 1, likedByMe: true });
    expect((await like(owner, comment._id)).body).toEqual({ likeCount: 2, likedByMe: true });
    expect(await shown(comment._id)).toMatchObject({
      likeCount: 2,
      likedByMe: true,
      likes: [{ employee_id: reader.employeeId, name: reader.name }, { employee_id: owner.employeeId }],
    });
    expect((await unlike(reader, comment._id)).body).toEqual({ likeCount: 1, likedByMe: false });
    expect((await unlike(reader, comment._id)).body).toEqual({ likeCount: 1, likedByMe: false });
  });

  test('of twenty requests at once counts once', async () => {
    const comment = await write(author);
    await service.drain();
    await Promise.all(Array.from({ length: 20 }, () => like(reader, comment._id)));
    expect(await shown(comment._id)).toMatchObject({ likeCount: 1 });
    expect(await notificationsOf(author, comment._id)).toHaveLength(1);
  });

  test('of several people at once is counted in the order in which they are stored', async () => {
    const comment = await write(author);
    const counts = async (change: typeof like) =>
      (await Promise.all([reader, owner, author].map((person) => change(person, comment._id))))
        .map(({ body }) => body.likeCount)
        .toSorted((a, b) => a - b);
    expect(await counts(like)).toEqual([1, 2, 3]);
    expect(await counts(unlike)).toEqual([0, 1, 2]);
  });

  test('tells the author, the owner and the collaborators, not the liker, and sends no mail', async () => {
    const comment = await write(author);
    await service.drain();
    const mails = mailbox.mails.length;
    const before = {
      owner: (await notificationsOf(owner, comment._id)).length,
      reader: (await notificationsOf(reader, comment._id)).length,
    };
    await like(reader, comment._id);
    await unlike(reader, comment._id);
    await like(reader, comment._id);
    expect(await notificationsOf(author, comment._id)).toMatchObject([{ priorty: 'activity' }]);
    expect((await notificationsOf(owner, comment._id)).length - before.owner).toBe(1);
    expect((await notificationsOf(reader, comment._id)).length - before.reader).toBe(0);
    expect(mailbox.mails).toHaveLength(mails);
  });

  test('is for oneself only', async () => {
    const comment = await write(author);
    const path = (verb: string, employee: Actor) => `/api/${verb}/${employee.employeeId}/${comment._id}/`;
    for (const verb of ['like-chat', 'dislike-chat']) {
      expect(errorOf(await reader.post(path(verb, author)))).toEqual({ status: 403, code: 'FORBIDDEN' });
      expect(errorOf(await reader.post(path(verb, outsider)))).toEqual({ status: 404, code: 'NOT_FOUND' });
      expect(errorOf(await outsider.post(path(verb, outsider)))).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
    expect(await shown(comment._id)).toMatchObject({ likeCount: 0 });
  });
});

describe('the stream of the task', () => {
  const deletions = () =>
    service.database.db
      .selectFrom('events')
      .where('company_id', '=', owner.companyId)
      .where('stream', '=', `task ${taskId}`)
      .where('type', '=', 'comment.deleted')
      .select('payload')
      .orderBy('sequence')
      .execute();

  test('announces a tombstone that is deleted with its last reply', async () => {
    const comment = await write(author);
    const reply = await write(reader, { reply_to: comment._id });
    await remove(author, comment._id);
    await remove(reader, reply._id);
    const ids = (await deletions()).slice(-3).map(({ payload }) => payload['comment_id']);
    expect(ids).toEqual([comment._id, reply._id, comment._id]);
  });

  test('names who deleted a comment, also of a tombstone that goes with its last reply', async () => {
    const comment = await write(author);
    const reply = await write(reader, { reply_to: comment._id });
    await remove(owner, comment._id);
    await remove(owner, reply._id);
    const payloads = (await deletions()).slice(-3).map(({ payload }) => payload);
    const byOwner = { sender_id: author.employeeId, employee_id: owner.employeeId };
    expect(payloads).toMatchObject([byOwner, { ...byOwner, sender_id: reader.employeeId }, byOwner]);
  });

  test('has every change in order, without gaps', async () => {
    const comment = await write(author);
    await like(reader, comment._id);
    await like(reader, comment._id);
    await unlike(reader, comment._id);
    await edit(author, comment._id, { message: 'Other' });
    await remove(author, comment._id);
    const events = await service.database.db
      .selectFrom('events')
      .where('company_id', '=', owner.companyId)
      .where('stream', '=', `task ${taskId}`)
      .select(['sequence', 'type'])
      .orderBy('sequence')
      .execute();
    expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index + 1));
    expect(
      events
        .filter((event) => event.type !== 'comment.seen')
        .slice(-5)
        .map((event) => event.type),
    ).toEqual(['comment.created', 'comment.liked', 'comment.unliked', 'comment.edited', 'comment.deleted']);
  });
});
