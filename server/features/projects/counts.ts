import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';

/** The number of visible projects or tasks, of one status or all; of tasks, also of one owner or all. */
export async function countVisible(
  db: Db,
  companyId: number,
  kind: 'project' | 'task',
  { status, ownerId = 0 }: { status?: string; ownerId?: number },
): Promise<number> {
  const { count } = await db
    .selectFrom('company_counts')
    .where('company_id', '=', companyId)
    .where('kind', '=', kind)
    .where('owner_id', '=', ownerId)
    .$if(status !== undefined, (some) => some.where('status', '=', status!))
    .select(sql<number>`coalesce(sum(count), 0)::bigint`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
