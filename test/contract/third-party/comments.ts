import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { answerOf, clientOf, codeOf } from './client.ts';
import type { Company } from './people.ts';
import type { Work } from './work.ts';

/* Comments, and what people hear of them. */

export async function writeComments({ ada, grace }: Company, { taskId }: Work): Promise<void> {
  const asAda = clientOf(ada.pair);
  const asGrace = clientOf(grace.pair);
  const ofTask = { params: { path: { task_id: taskId } } };
  const say = (person: typeof ada, message: string, more: { reply_to?: number; mentionedEmails?: string[] } = {}) =>
    answerOf(clientOf(person.pair).POST('/api/task-chats/', { body: { taskId, sender: person.id, message, ...more } }));
  const question = await say(ada, 'Done?', { mentionedEmails: [grace.email] });
  assert.deepEqual(question.mentions, [{ _id: grace.id, name: 'Grace Hopper', email: grace.email }]);
  const reply = await say(grace, 'Nearly.', { reply_to: question._id });
  const ofReply = { params: { path: { comment_id: reply._id } } };
  const edited = await answerOf(
    asGrace.PATCH('/api/edit-task-chats/{comment_id}/', { ...ofReply, body: { message: 'Done, @ada@example.com.' } }),
  );
  assert.deepEqual([edited.isEdited, edited.mentions[0]?.name], [true, 'Ada Lovelace']);
  assert.equal(
    await codeOf(asAda.PATCH('/api/edit-task-chats/{comment_id}/', { ...ofReply, body: { message: 'Mine' } })),
    'NOT_THE_AUTHOR',
  );
  const byAda = { params: { path: { employee_id: ada.id, comment_id: reply._id } } };
  const liked = await answerOf(asAda.POST('/api/like-chat/{employee_id}/{comment_id}/', byAda));
  assert.deepEqual(liked, { likeCount: 1, likedByMe: true });
  const { comments } = await answerOf(asGrace.GET('/api/tasks/chat/{task_id}/', ofTask));
  assert.deepEqual(comments[0]?.replies[0]?.likes, [{ employee_id: ada.id, name: 'Ada Lovelace' }]);
  assert.equal((await answerOf(asAda.POST('/api/dislike-chat/{employee_id}/{comment_id}/', byAda))).likeCount, 0);
  await answerOf(asGrace.DELETE('/api/taskchat/{comment_id}/', ofReply));
  await say(ada, 'Then on to the next.');
}

export async function readNotifications({ grace }: Company): Promise<void> {
  const asGrace = clientOf(grace.pair);
  const ofUser = { params: { path: { user_id: grace.id } } };
  const ofRecipient = { recipient_id: grace.id };
  const query = { read: false, priorty: 'primary', isMention: true } as const;
  const listMentions = () =>
    answerOf(asGrace.GET('/notifications/recipient/{recipient_id}/', { params: { path: ofRecipient, query } }));
  // The service notifies after its answer.
  let unread = await listMentions();
  for (; unread.total === 0; unread = await listMentions()) await delay(100);
  assert.ok((await answerOf(asGrace.GET('/notifications/unread-count/{user_id}/', ofUser))).unread >= unread.total);
  assert.deepEqual([unread.pageSize, unread.results[0]?.actor?.name], [10, 'Ada Lovelace']);
  const ofOne = { params: { path: { notification_id: unread.results[0]!._id } } };
  assert.equal((await answerOf(asGrace.PATCH('/api/notifications/read/{notification_id}/', ofOne))).read, true);
  const starred = { ...ofOne, body: { starred: true } };
  assert.equal((await answerOf(asGrace.PATCH('/api/notifications/{notification_id}/', starred))).starred, true);
  assert.ok((await answerOf(asGrace.POST('/mark_notifications_as_read/{user_id}/', ofUser))).updated >= 1);
  const one = { notification_ids: [ofOne.params.path.notification_id] };
  assert.deepEqual(await answerOf(asGrace.DELETE('/notifications/delete/', { body: one })), { deleted: 1 });
  assert.ok((await answerOf(asGrace.DELETE('/notifications/{user_id}/clear/', ofUser))).deleted >= 1);
  const ofEmployee = { params: { path: { employee_id: grace.id } } };
  const quiet = { ...ofEmployee, body: { message: { inApp: true, email: false } } };
  await answerOf(asGrace.PUT('/api/notification-preferences/{employee_id}/', quiet));
  const kept = await answerOf(asGrace.GET('/api/notification-preferences/{employee_id}/', ofEmployee));
  assert.deepEqual(kept.message, quiet.body.message);
}
