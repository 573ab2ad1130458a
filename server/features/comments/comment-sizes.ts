import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';

/** A like or a view in the JSON of a comment. */
const personBytes = 90;

/** Estimates the JSON length of comments with their likes and views. */
export async function estimateCommentBytes(
  db: Db,
  companyId: number,
  commentIds: number[],
): Promise<Map<number, number>> {
  if (commentIds.length === 0) return new Map();
  const { rows } = await sql<{ comment_id: number; bytes: number }>`
    select c.comment_id, (
      coalesce(octet_length(c.message), 0) + ${sql.lit(personBytes)} * (
        (select count(*) from comment_likes as l where l.company_id = c.company_id and l.comment_id = c.comment_id)
        + (select count(*) from comment_views as v where v.company_id = c.company_id and v.comment_id = c.comment_id)
      )
    )::bigint as bytes
    from comments as c
    where c.company_id = ${companyId} and c.comment_id = any(${[...new Set(commentIds)]}::bigint[])`.execute(db);
  return new Map(rows.map(({ comment_id: commentId, bytes }) => [commentId, bytes]));
}
