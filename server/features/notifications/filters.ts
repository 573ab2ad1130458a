import { sql, type Selectable } from 'kysely';
import { compiledFor } from '../../../db/pipeline/compiled.ts';
import { filterColumns } from '../../../db/derived/notification-counts.ts';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import type { Recipient } from './queries.ts';

/** The columns that a list is filtered by, each with one value. */
export type Filters = {
  [Key in (typeof filterColumns)[number]]?: Selectable<Schema['notifications']>[Key];
};

/** The key of a filter: its column names. Lists and totals have one statement for each key. */
export const filterKeyOf = (filters: Filters): string =>
  filterColumns.filter((name) => filters[name] !== undefined).join(' ');

export const columnsIn = (filterKey: string): (keyof Filters)[] =>
  filterColumns.filter((name) => filterKey.split(' ').includes(name));

/** The number of a person's notifications that match the filters. */
export async function countFiltered(db: Db, recipient: Recipient, filters: Filters): Promise<number> {
  const [row] = await sumCounters(db, filterKeyOf(filters), { ...recipient, ...filters });
  return row!.count;
}

const sumCounters = compiledFor<string, Recipient & Filters, { count: number }>((db, placeholder, filterKey) => {
  const conditions = columnsIn(filterKey).map((name) => sql` and ${sql.ref(name)} = ${placeholder(name)}`);
  return sql<{ count: number }>`
    select coalesce(sum(count), 0)::bigint as count from notification_tallies
    where company_id = ${placeholder('companyId')} and employee_id = ${placeholder('employeeId')}
    ${sql.join(conditions, sql``)}`.compile(db);
});
