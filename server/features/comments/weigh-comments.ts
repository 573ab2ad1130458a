import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';

/** Somebody who likes or has seen a comment, in its JSON. */
const personBytes = 90;

/** About how many bytes of JSON each comment is, with who likes it and who has seen it. */
export async function weighComments(db: Db, companyId: number, commentIds: number[]): Promise<Map<number, number>> {
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
