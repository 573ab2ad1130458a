import { sql } from 'kysely';
import { compiled } from '../../../db/compiled.ts';

/**
 * Counts a comment that its sender has posted, or that is deleted (`by: -1`), in the transaction of that and as the last
 * of it: the row is locked until the commit, and whoever writes much as one person waits for it each time.
 */
export const keepCommentCount = compiled<{ companyId: number; senderId: number; by: 1 | -1 }, object>((db, blank) =>
  sql<object>`
    insert into comment_counts (company_id, employee_id, posted)
    values (${blank('companyId')}, ${blank('senderId')}, ${blank('by')})
    on conflict (company_id, employee_id) do update set posted = comment_counts.posted + excluded.posted`.compile(db),
);
