import { sql } from 'kysely';
import type { Db } from '../transaction.ts';
import { options } from './triggers.ts';

/*
 * `comment_counts`: how many comments an employee has posted that are not deleted. The trigger runs at COMMIT, because
 * the lock that is taken last is held for the shortest time and all comments of one author wait for this row.
 */
export const commentCounts = [
  `create or replace function derive_comment_counts() returns trigger ${options} as $$
  declare
    row constant comments := coalesce(new, old);
    change constant integer := coalesce((not new.is_deleted)::integer, 0) - coalesce((not old.is_deleted)::integer, 0);
  begin
    if change <> 0 then
      insert into comment_counts as c (company_id, employee_id, posted) values (row.company_id, row.sender_id, change)
      on conflict (company_id, employee_id) do update set posted = c.posted + excluded.posted;
    end if;
    return null;
  end $$`,
  'drop trigger if exists derive_comment_counts on comments',
  `create constraint trigger derive_comment_counts after insert or delete or update of is_deleted on comments
    deferrable initially deferred for each row execute function derive_comment_counts()`,
];

/** Recomputes the counts of a company. No other transaction may write in the company at the same time. */
export async function recomputeCommentCounts(db: Db, companyId: number): Promise<void> {
  await db.deleteFrom('comment_counts').where('company_id', '=', companyId).execute();
  await sql`
    insert into comment_counts (company_id, employee_id, posted)
    select company_id, sender_id, count(*) from comments
    where company_id = ${companyId} and not is_deleted group by company_id, sender_id`.execute(db);
}
