import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';

/** Counts a comment that its sender has posted, or that is deleted (`by: -1`), in the transaction of that. */
export async function keepCommentCount(
  db: Db,
  { companyId, senderId, by }: { companyId: number; senderId: number; by: 1 | -1 },
): Promise<void> {
  await sql`
    insert into comment_counts (company_id, employee_id, posted) values (${companyId}, ${senderId}, ${by})
    on conflict (company_id, employee_id) do update set posted = comment_counts.posted + excluded.posted`.execute(db);
}
