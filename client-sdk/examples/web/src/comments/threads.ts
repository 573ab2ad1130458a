import type { Comment, CommentNow, CommentSeen } from 'work-management-client';

/** The comments of a task by their identifiers. */
export type Comments = Map<number, CommentNow>;

/** A comment and what was answered to it, the oldest first. */
export type Thread = { comment: CommentNow; replies: Thread[] };

/** The threads of an answer as single comments. */
export function flatten(threads: readonly Comment[]): Comments {
  const all: Comments = new Map();
  const waiting = [...threads];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { replies, ...comment } = next;
    all.set(comment._id, comment);
    waiting.push(...replies);
  }
  return all;
}

/** Puts single comments together; a deleted one without replies has nothing to show. */
export function threadsOf(comments: Comments): Thread[] {
  const threads = new Map<number, Thread>();
  const inOrder = [...comments.values()].toSorted((a, b) => a._id - b._id);
  for (const comment of inOrder) threads.set(comment._id, { comment, replies: [] });
  const roots: Thread[] = [];
  for (const thread of threads.values()) {
    const parent = thread.comment.reply_to === null ? undefined : threads.get(thread.comment.reply_to);
    (parent?.replies ?? roots).push(thread);
  }
  // From the newest on: replies stand before what they answer.
  for (const thread of [...threads.values()].toReversed())
    thread.replies = thread.replies.filter(({ comment, replies }) => !comment.isDeleted || replies.length > 0);
  return roots.filter(({ comment, replies }) => !comment.isDeleted || replies.length > 0);
}

/** Adds a person to those who have seen some comments. */
export function withSeen(comments: Comments, { commentIds, seenBy }: Pick<CommentSeen, 'commentIds' | 'seenBy'>): void {
  for (const id of commentIds) {
    const comment = comments.get(id);
    if (!comment || comment.seenBy.some((one) => one.employee_id === seenBy.employee_id)) continue;
    comments.set(id, { ...comment, seenBy: [...comment.seenBy, seenBy] });
  }
}
