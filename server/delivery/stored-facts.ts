import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { StoredFact } from '../kernel/streams.ts';

/* Facts as they stand in the table. What one statement sees of a stream has no gaps: see publish.ts. */

type FactRow = { company_id: number; stream: string; sequence: number; type: string; payload: unknown; at: Date };

const toFact = ({ company_id: companyId, ...row }: FactRow): StoredFact => ({ companyId, ...row });

type Cursor = { companyId: number; stream: string; position: number };

/** The number of the latest fact of a stream; 0 where there is none yet. */
export async function findEnd(db: Db, companyId: number, stream: string): Promise<number> {
  const row = await db
    .selectFrom('event_streams')
    .where('company_id', '=', companyId)
    .where('stream', '=', stream)
    .select('last_sequence')
    .executeTakeFirst();
  return row?.last_sequence ?? 0;
}

/** The next facts of each stream after where it was read to, so many of each, all in one statement. */
export async function listFacts(db: Db, cursors: Cursor[], limit: number): Promise<StoredFact[]> {
  const { rows } = await sql<FactRow>`
    select e.company_id, e.stream, e.sequence, e.type, e.payload, e.at
    from unnest(
      ${cursors.map((one) => one.companyId)}::bigint[],
      ${cursors.map((one) => one.stream)}::text[],
      ${cursors.map((one) => one.position)}::bigint[]
    ) as c (company_id, stream, position)
    cross join lateral (
      select f.company_id, f.stream, f.sequence, f.type, f.payload, f.at from events as f
      where f.company_id = c.company_id and f.stream = c.stream and f.sequence > c.position
      order by f.sequence limit ${limit}
    ) as e
    order by e.company_id, e.stream, e.sequence`.execute(db);
  return rows.map(toFact);
}
