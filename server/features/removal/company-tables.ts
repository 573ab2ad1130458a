import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';

/** A table with rows of companies, and its primary key. */
export type CompanyTable = { name: string; key: string[] };

/** The log is deleted by a function of the database, and the company's own row at the end. */
const others = new Set(['companies', 'audit_log', 'audit_seals', 'audit_erasures']);

/** The tables that have a `company_id`, those first whose rows refer to rows of others. */
export async function listCompanyTables(db: Db): Promise<CompanyTable[]> {
  const { rows: tables } = await sql<CompanyTable>`
    select c.relname as name, array(
      select a.attname::text from pg_index as i
      cross join lateral unnest(i.indkey::smallint[]) with ordinality as k (attnum, position)
      join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where i.indrelid = c.oid and i.indisprimary order by k.position
    ) as key
    from pg_class as c
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and exists (
      select from pg_attribute as a where a.attrelid = c.oid and a.attname = 'company_id' and not a.attisdropped
    )
    order by 1`.execute(db);
  const { rows: references } = await sql<{ from: string; to: string }>`
    select distinct r.relname as "from", t.relname as "to"
    from pg_constraint as f join pg_class as r on r.oid = f.conrelid join pg_class as t on t.oid = f.confrelid
    where f.contype = 'f' and r.relnamespace = 'public'::regnamespace and r.oid <> t.oid`.execute(db);
  const left = new Map(tables.filter(({ name }) => !others.has(name)).map((table) => [table.name, table]));
  const ordered: CompanyTable[] = [];
  while (left.size > 0) {
    const free = [...left.values()].filter(
      ({ name }) => !references.some((reference) => reference.to === name && left.has(reference.from)),
    );
    if (free.length === 0) throw new Error(`these tables refer to each other: ${[...left.keys()].join(', ')}`);
    for (const table of free) {
      ordered.push(table);
      left.delete(table.name);
    }
  }
  return ordered;
}
