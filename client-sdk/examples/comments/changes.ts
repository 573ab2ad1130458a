import type { Comment, CommentNow, CommentsOnTaskEvent } from 'work-management-client';

type Person = { employee_id: number; name: string };

/** Something to show. `listed` comments were there before; `depth` is how deep they stand in their thread. */
export type Change =
  | { type: 'listed'; depth: number; comment: CommentNow }
  | { type: 'written' | 'edited' | 'deleted'; comment: CommentNow }
  | { type: 'liked' | 'unliked'; comment: CommentNow; by: Person }
  | { type: 'seen'; commentIds: number[]; by: Person };

/** The comments that were shown: it returns only what is new, so nothing is shown twice. */
export type TrackedComments = {
  /** All comments as they are now. */
  list(comments: readonly Comment[]): Change[];
  take(event: CommentsOnTaskEvent): Change[];
  find(commentId: number): CommentNow | undefined;
};

export function trackComments(): TrackedComments {
  const known = new Map<number, CommentNow>();

  /** What differs from what was known of a comment. */
  function compare(comment: CommentNow, ifNew: Change): Change[] {
    const before = known.get(comment._id);
    known.set(comment._id, comment);
    if (!before) return comment.isDeleted && ifNew.type === 'written' ? [] : [ifNew];
    if (comment.isDeleted) return before.isDeleted ? [] : [{ type: 'deleted', comment }];
    const isEdited = before.message !== comment.message || before.image !== comment.image;
    return [
      ...(isEdited ? [{ type: 'edited', comment } as const] : []),
      ...without(comment.likes, before.likes).map((by) => ({ type: 'liked', comment, by }) as const),
      ...without(before.likes, comment.likes).map((by) => ({ type: 'unliked', comment, by }) as const),
    ];
  }

  function remove(commentId: number): Change[] {
    const comment = known.get(commentId);
    known.delete(commentId);
    return comment && !comment.isDeleted ? [{ type: 'deleted', comment }] : [];
  }

  return {
    list(comments) {
      const there = [...flatten(comments, 0)];
      const ids = new Set(there.map(({ comment }) => comment._id));
      const gone = [...known.keys()].filter((id) => !ids.has(id)).flatMap(remove);
      return [...gone, ...there.flatMap((listed) => compare(listed.comment, listed))];
    },
    take(event) {
      if (event.type === 'stream.reset') return [];
      if (event.type === 'comment.seen')
        return [
          {
            type: 'seen',
            commentIds: event.commentIds,
            by: { employee_id: event.seenBy.employee_id, name: event.seenBy.name },
          },
        ];
      if (event.comment) return compare(event.comment, { type: 'written', comment: event.comment });
      return remove(event.commentId);
    },
    find: (commentId) => known.get(commentId),
  };
}

function without(people: readonly Person[], others: readonly Person[]): Person[] {
  return people.filter((one) => !others.some((other) => other.employee_id === one.employee_id));
}

/** A thread in the order in which it is read: each comment before its replies. */
function* flatten(comments: readonly Comment[], depth: number): Generator<Extract<Change, { type: 'listed' }>> {
  for (const { replies, ...comment } of comments) {
    yield { type: 'listed', depth, comment };
    yield* flatten(replies, depth + 1);
  }
}
