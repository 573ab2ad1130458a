import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { recipientsOf, type Audience } from '../../../server/features/comments/recipients.ts';
import { Comment } from '../../../server/features/comments/schemas.ts';
import { assembleThreads, levelsMax } from '../../../server/features/comments/threads.ts';

type One = { _id: number; reply_to: number | null; replies: One[] };
const one = (_id: number, reply_to: number | null): One => ({ _id, reply_to, replies: [] });

describe('threads', () => {
  test('hang every reply under what it answers, in the order given', () => {
    const threads = assembleThreads([one(1, null), one(2, null), one(3, 1), one(4, 3), one(5, 1), one(6, 2)]);
    expect(threads).toEqual([
      { ...one(1, null), replies: [{ ...one(3, 1), replies: [one(4, 3)] }, one(5, 1)] },
      { ...one(2, null), replies: [one(6, 2)] },
    ]);
  });

  test('of 10,000 replies one under the other lose none, and can be checked and written out', () => {
    const count = 10_000;
    const first: z.input<typeof Comment> = {
      _id: 1,
      taskId: 1,
      sender: { _id: 1, name: 'Ada', profilePicture: null },
      ClientSender: null,
      message: 'x',
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
      deepLink: 'x',
      createdAt: new Date(),
      editedAt: null,
      replies: [],
    };
    const comments = [first];
    for (let parent = 1; parent < count; parent += 1)
      comments.push({ ...first, _id: parent + 1, reply_to: parent, replies: [] });
    const threads = JSON.parse(JSON.stringify(Comment.array().parse(assembleThreads(comments)))) as One[];

    const found: number[] = [];
    let levels = 0;
    for (let level = threads; level.length > 0; level = level.flatMap((comment) => comment.replies)) {
      levels += 1;
      found.push(...level.map((comment) => comment._id));
    }
    expect(levels).toBe(levelsMax);
    expect(found).toEqual(comments.map((comment) => comment._id));
  });
});

describe('those who are told', () => {
  const [author, owner, helper, mentioned, gone] = [1, 2, 3, 4, 5];
  const told = (audience: Partial<Audience>) =>
    recipientsOf({
      actorId: author,
      mentionedIds: [],
      involvedIds: [],
      activeIds: new Set([author, owner, helper, mentioned]),
      ...audience,
    });

  test('are the mentioned and the involved', () => {
    expect(told({ mentionedIds: [mentioned], involvedIds: [owner, helper] })).toEqual({
      mentioned: [mentioned],
      involved: [owner, helper],
    });
  });

  test('are told once, as mentioned before as involved', () => {
    expect(told({ mentionedIds: [owner, mentioned, owner], involvedIds: [owner, helper, helper, mentioned] })).toEqual({
      mentioned: [owner, mentioned],
      involved: [helper],
    });
  });

  test('are never the one who did it', () => {
    expect(told({ mentionedIds: [author], involvedIds: [author, owner] })).toEqual({
      mentioned: [],
      involved: [owner],
    });
  });

  test('are never those who are deactivated or deleted', () => {
    expect(told({ mentionedIds: [gone], involvedIds: [gone, helper] })).toEqual({ mentioned: [], involved: [helper] });
  });

  test('are nobody where there is nobody', () => {
    expect(told({ involvedIds: [null] })).toEqual({ mentioned: [], involved: [] });
  });
});
