/**
 * Threads are as deep as people reply, but readers of JSON give up somewhere: below this level replies stand one after
 * another, oldest first, beside the one they answer, and only `reply_to` tells to whom.
 */
export const levelsMax = 500;

type Threaded<Comment> = { _id: number; reply_to?: number | null; replies: Comment[] };

/** Hangs replies under what they answer. Comments come in the order of their identifiers: a reply after its parent. */
export function assembleThreads<Comment extends Threaded<Comment>>(comments: Comment[]): Comment[] {
  const threads: Comment[] = [];
  // Where the replies to a comment go, and on which level that is.
  const places = new Map<number | null, { list: Comment[]; level: number }>([[null, { list: threads, level: 1 }]]);
  for (const comment of comments) {
    const place = places.get(comment.reply_to ?? null) ?? places.get(null)!;
    place.list.push(comment);
    const below = place.level < levelsMax ? { list: comment.replies, level: place.level + 1 } : place;
    places.set(comment._id, below);
  }
  return threads;
}
