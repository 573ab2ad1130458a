import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { insertViews } from '../../../server/features/comments/seen.ts';
import type { Actor } from '../../support/actor.ts';
import { waitForLockWaits } from '../../support/lock-waits.ts';
import { startService } from '../../support/service.ts';
import { insertTask } from '../../support/tasks.ts';
import { waitUntil } from '../../support/waiting.ts';

/* Comments of one thread are locked from a reply upwards, so that deletions and views of them wait for each other in one order. */

const service = await startService();
const { database } = service;
const owner = await service.registerCompany();
const reader = await service.addEmployee(owner);

async function write(actor: Actor, taskId: number, more: object = {}): Promise<number> {
  const { body } = await actor.post('/api/task-chats/', {
    taskId,
    sender: actor.employeeId,
    message: 'Hello',
    ...more,
  });
  return body._id;
}

/** A task with a comment and its only reply. */
async function startThread() {
  const taskId = await insertTask(service, owner);
  const commentId = await write(owner, taskId);
  return { taskId, commentId, replyId: await write(owner, taskId, { reply_to: commentId }) };
}

const remove = (id: number) => owner.delete(`/api/taskchat/${id}/`);
const list = async (actor: Actor, taskId: number) => (await actor.get(`/api/tasks/chat/${taskId}/`)).body.comments;

/** Opens a transaction that holds a comment, as a change of it does. */
async function hold(commentId: number) {
  const holder = database.forCompany(owner.companyId).begin();
  await sql`select 1 from comments where comment_id = ${commentId} for update`.execute(holder.db);
  return holder;
}

describe.skipIf(database.kind === 'embedded')('a comment and its last reply', () => {
  test('that are deleted at once leave no tombstone', async () => {
    const { taskId, commentId, replyId } = await startThread();
    const deletion = database.forCompany(owner.companyId).begin();
    // As the deletion of the comment does, which still has its reply.
    await sql`update comments set is_deleted = true, message = null where comment_id = ${commentId}`.execute(
      deletion.db,
    );
    const removal = remove(replyId);
    await waitForLockWaits(database.db, 1);
    await deletion.commit();
    expect((await removal).status).toBe(200);
    expect(await list(owner, taskId)).toEqual([]);
  });

  test('leave no tombstone in any of 20 rounds', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { taskId, commentId, replyId } = await startThread();
      await Promise.all([remove(commentId), remove(replyId)]);
      expect(await list(owner, taskId)).toEqual([]);
    }
  });
});

describe.skipIf(database.kind === 'embedded')('views', () => {
  test('do not deadlock with the deletion of a reply', async () => {
    const { commentId, replyId } = await startThread();
    const holder = await hold(replyId);
    const removal = remove(replyId);
    await waitForLockWaits(database.db, 1);
    const reading = database.forCompany(owner.companyId).begin();
    const at = service.clock.now();
    const viewed = insertViews(
      reading.db,
      owner.companyId,
      [commentId, replyId].map((id) => ({ viewerId: reader.employeeId, commentId: id, at })),
    );
    await waitForLockWaits(database.db, 2);
    await holder.rollback();
    expect((await viewed).map((view) => view.comment_id)).toEqual([commentId]);
    await reading.commit();
    expect((await removal).status).toBe(200);
    expect(service.log()).not.toContain('40P01');
  });

  test('that lose a deadlock are stored all the same', async () => {
    const { taskId, commentId, replyId } = await startThread();
    const holder = await hold(commentId);
    // The other transaction looks for a deadlock first, and so it is the one that ends.
    await sql`set local role none`.execute(holder.db);
    await sql`set local deadlock_timeout = '1min'`.execute(holder.db);
    await list(reader, taskId);
    await waitForLockWaits(database.db, 1);
    await sql`select 1 from comments where comment_id = ${replyId} for update`.execute(holder.db);
    await waitUntil(() => service.log().includes('40P01'));
    await holder.rollback();
    await service.drain();
    const [comment] = await list(owner, taskId);
    for (const { seenBy } of [comment, ...comment.replies])
      expect(seenBy).toMatchObject([{ employee_id: reader.employeeId }]);
  });
});

test('a tombstone is not marked as seen', async () => {
  const { taskId, commentId } = await startThread();
  await remove(commentId);
  await list(reader, taskId);
  await service.drain();
  const [tombstone] = await list(owner, taskId);
  expect(tombstone).toMatchObject({
    isDeleted: true,
    seenBy: [],
    replies: [{ seenBy: [{ employee_id: reader.employeeId }] }],
  });
});
