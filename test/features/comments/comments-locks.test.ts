import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Actor } from '../../support/actor.ts';
import { waitForLockWaits } from '../../support/lock-waits.ts';
import { startService } from '../../support/service.ts';
import { insertTask } from '../../support/tasks.ts';

/* Comments of one thread are locked from a reply upwards. */

const service = await startService();
const { database } = service;
const owner = await service.registerCompany();

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
