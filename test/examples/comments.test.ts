import { expect, test } from 'vitest';
import type { Comment, CommentNow, CommentsOnTaskEvent } from 'work-management-client';
import { trackComments, type Change } from '../../client-sdk/examples/comments/changes.ts';

const grace = { employee_id: 2, name: 'Grace' };

function commentOf(_id: number, given: Partial<CommentNow> = {}): CommentNow {
  return {
    _id,
    taskId: 1,
    sender: { _id: 1, name: 'Ada', profilePicture: null },
    ClientSender: null,
    message: `message ${_id}`,
    mentionedEmails: [],
    mentions: [],
    reply_to: null,
    image: null,
    isEdited: false,
    isDeleted: false,
    likes: [],
    likeCount: 0,
    likedByMe: false,
    seenBy: [],
    deepLink: 'https://app.example/1',
    createdAt: '2026-03-01T09:00:00.000Z',
    editedAt: null,
    ...given,
  };
}

const withReplies = (comment: CommentNow, ...replies: Comment[]): Comment => ({ ...comment, replies });

function eventOf(
  type: 'created' | 'edited' | 'deleted' | 'liked',
  comment: CommentNow | null,
  commentId = comment!._id,
) {
  const at = '2026-03-01T09:00:00.000Z';
  return { id: 1, type: `comment.${type}`, at, taskId: 1, commentId, actorId: 1, comment } as CommentsOnTaskEvent;
}

const namesOf = (changes: Change[]) =>
  changes.map((change) => `${change.type} ${change.type === 'seen' ? change.commentIds.join() : change.comment._id}`);

test('what the list has already is not shown again when its event comes, nor the other way round', () => {
  const tracked = trackComments();
  const first = commentOf(1, { likes: [grace] });
  expect(namesOf(tracked.list([withReplies(first, withReplies(commentOf(2)))]))).toEqual(['listed 1', 'listed 2']);
  expect(tracked.take(eventOf('created', first))).toEqual([]);
  expect(tracked.take(eventOf('liked', first))).toEqual([]);
  expect(namesOf(tracked.take(eventOf('created', commentOf(3))))).toEqual(['written 3']);
  expect(tracked.list([withReplies(first, withReplies(commentOf(2))), withReplies(commentOf(3))])).toEqual([]);
});

test('after a time away the list says what differs: new, changed, liked, deleted and gone', () => {
  const tracked = trackComments();
  tracked.list([1, 2, 3, 4].map((id) => withReplies(commentOf(id))));
  const now = [
    withReplies(commentOf(1, { message: 'changed' })),
    withReplies(commentOf(2, { likes: [grace] })),
    withReplies(commentOf(3, { isDeleted: true, message: null }), withReplies(commentOf(5))),
  ];
  expect(namesOf(tracked.list(now))).toEqual(['deleted 4', 'edited 1', 'liked 2', 'deleted 3', 'listed 5']);
  expect(tracked.list(now)).toEqual([]);
});

test('a comment that came and went before it could be shown is not shown', () => {
  const tracked = trackComments();
  expect(tracked.take(eventOf('created', null, 7))).toEqual([]);
  expect(tracked.take(eventOf('created', commentOf(8, { isDeleted: true, message: null })))).toEqual([]);
  expect(tracked.take(eventOf('deleted', null, 7))).toEqual([]);
});
