/**
 * Threads nest as deep as people reply, but JSON parsers have limits: below this level replies are siblings, oldest
 * first, and only `reply_to` tells their parent.
 */
export const levelsMax = 500;

type Threaded<Comment> = { _id: number; reply_to?: number | null; replies: Comment[] };

/** Nests replies under their parents. Comments come in the order of their identifiers: a reply after its parent. */
export function assembleThreads<Comment extends Threaded<Comment>>(comments: Comment[]): Comment[] {
  const threads: Comment[] = [];
  // The list for the replies to a comment, and its level.
  const places = new Map<number | null, { list: Comment[]; level: number }>([[null, { list: threads, level: 1 }]]);
  for (const comment of comments) {
    const place = places.get(comment.reply_to ?? null) ?? places.get(null)!;
    place.list.push(comment);
    const below = place.level < levelsMax ? { list: comment.replies, level: place.level + 1 } : place;
    places.set(comment._id, below);
  }
  return threads;
}
