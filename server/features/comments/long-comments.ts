import { sql } from 'kysely';
import { compiled } from '../../../db/pipeline/compiled.ts';
import type { Db } from '../../../db/open.ts';
import { batchesOf, pieceLengthMin } from '../../kernel/wire/json-stream.ts';
import { parserOf } from '../../kernel/parser.ts';
import { selectVisibleComments } from './comment-rows.ts';
import { listCommentViews, type Viewer } from './comment-view.ts';
import { CommentNow } from './schemas.ts';
import { levelsMax } from './threads.ts';

/*
 * The comments of a long discussion, as the JSON of nested threads. Memory holds the position of each comment;
 * contents are read in batches, in the order of the answer. The comments are those of the start of reading,
 * with their content at the time when their batch is read. A comment that is deleted in between is left out: its
 * replies were deleted before.
 */

/** The limits of a batch: bytes of messages, comments, and people who like or have seen one of them. */
const batchBytesMax = 256 * 1024;
const batchCommentsMax = 100;
const batchPeopleMax = 10_000;

/** A task's comments, oldest first: their identifiers, those of their parents (0 for none) and the lengths of their messages. */
type CommentIndex = { ids: number[]; parents: number[]; sizes: number[]; people: number };

const readCommentIndex = compiled<{ companyId: number; taskId: number }, CommentIndex>((db, placeholder) =>
  sql<CommentIndex>`
    select coalesce(array_agg(comment_id order by comment_id), '{}') as ids,
      coalesce(array_agg(coalesce(reply_to, 0) order by comment_id), '{}') as parents,
      coalesce(array_agg(coalesce(octet_length(message), 0)::bigint order by comment_id), '{}') as sizes,
      (select count(*) from employees where company_id = ${placeholder('companyId')}) as people
    from (${selectVisibleComments(db, placeholder('companyId'))
      .where('c.task_id', '=', placeholder('taskId'))
      .select(['c.comment_id', 'c.reply_to', 'c.message'])}) as c`.compile(db),
);

/** Each comment with its level, in the order of threads: a comment, then its replies with theirs, oldest first. */
export function* inThreadOrder(
  comments: Pick<CommentIndex, 'ids' | 'parents'>,
): Generator<{ index: number; level: number }> {
  const parents = parentsOf(comments);
  const { length } = parents;
  const levels = new Uint16Array(length);
  // The parent of each comment, its first reply and its next sibling; -1 for none.
  const above = new Int32Array(length).fill(-1);
  const first = new Int32Array(length).fill(-1);
  const next = new Int32Array(length).fill(-1);
  for (let index = 0; index < length; index += 1) {
    const answered = parents[index]!;
    const isNested = answered !== -1 && levels[answered]! < levelsMax;
    above[index] = isNested || answered === -1 ? answered : above[answered]!;
    levels[index] = answered === -1 ? 1 : levels[answered]! + (isNested ? 1 : 0);
  }
  let firstThread = -1;
  for (let index = length - 1; index >= 0; index -= 1) {
    const holder = above[index]!;
    next[index] = holder === -1 ? firstThread : first[holder]!;
    if (holder === -1) firstThread = index;
    else first[holder] = index;
  }
  for (let index = firstThread; index !== -1;) {
    yield { index, level: levels[index]! };
    let from = index;
    index = first[from]!;
    while (index === -1 && from !== -1) {
      index = next[from]!;
      from = above[from]!;
    }
  }
}

/** The position of each comment's parent; -1 where it has none, or one that is missing. */
function parentsOf({ ids, parents }: Pick<CommentIndex, 'ids' | 'parents'>): Int32Array {
  const positions = new Map(ids.map((id, index) => [id, index]));
  return Int32Array.from(parents, (id) => positions.get(id) ?? -1);
}

type Leveled = { comment: Awaited<ReturnType<typeof listCommentViews>>[number]; level: number };

/** The comments in batches, in the order of threads. */
export async function* leveledComments(
  db: Db,
  companyId: number,
  taskId: number,
  viewer: Viewer,
): AsyncGenerator<Leveled[]> {
  const [found] = await readCommentIndex(db, { companyId, taskId });
  const { ids, sizes, people } = found!;
  const countMax = Math.min(batchCommentsMax, Math.max(1, Math.floor(batchPeopleMax / Math.max(1, people))));
  const levels = new Map<number, number>();
  function* order() {
    for (const { index, level } of inThreadOrder(found!)) {
      levels.set(index, level);
      yield index;
    }
  }

  for (const batch of batchesOf(order(), (index) => sizes[index]!, { countMax, weightMax: batchBytesMax })) {
    const records = await listCommentViews(
      db,
      companyId,
      batch.map((index) => ids[index]!),
      viewer,
    );
    const byId = new Map(records.map((record) => [record._id, record]));
    yield batch.flatMap((index) => {
      const comment = byId.get(ids[index]!);
      const level = levels.get(index)!;
      levels.delete(index);
      return comment ? [{ comment, level }] : [];
    });
  }
}

/** The answer in pieces, its comments nested. */
export async function* threadPieces(batches: AsyncIterable<Leveled[]>): AsyncGenerator<string> {
  let above = 0;
  let piece = '{"comments":[';
  for await (const batch of batches)
    for (const { comment, level: wanted } of batch) {
      const level = Math.min(wanted, above + 1);
      piece += `${closing(above - level)}${level <= above ? ',' : ''}${JSON.stringify(parse(comment)).slice(0, -1)},"replies":[`;
      above = level;
      if (piece.length < pieceLengthMin) continue;
      yield piece;
      piece = '';
    }
  yield `${piece}${closing(above - 1)}]}`;
}

const parse = parserOf(CommentNow);

/** Closes a comment and so many levels above it; nothing if a reply follows. */
const closing = (levels: number): string => ']}'.repeat(levels + 1);
