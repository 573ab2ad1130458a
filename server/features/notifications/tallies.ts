import { sql, type Selectable } from 'kysely';
import { compiled, compiledFor } from '../../../db/compiled.ts';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import type { Recipient } from './queries.ts';

/*
 * How many notifications of each kind and with which flags a person has, so that the total of a list costs the same
 * whatever it is filtered by. Kept in the transaction of each change, behind the lock on the person's counts.
 */

/** What lists are filtered by. */
export const talliedColumns = [
  'app_type',
  'category',
  'priority',
  'is_mention',
  'is_read',
  'is_starred',
  'is_later',
  'is_archived',
] as const;

export type Tallied = Pick<Selectable<Schema['notifications']>, (typeof talliedColumns)[number]>;

const columns = sql.join(talliedColumns.map((name) => sql.ref(name)));

/** Notifications that came (`by: 1`) or went (`by: -1`); one that changes goes as it was and comes as it is. */
type TallyChange = Tallied & { by: 1 | -1 };

/** Changes of one person's notifications. */
export async function keepTallies(
  db: Db,
  { companyId, employeeId }: Recipient,
  changes: readonly TallyChange[],
): Promise<void> {
  await keepTalliesOfAll(
    db,
    companyId,
    changes.map((change) => ({ ...change, employeeId })),
  );
}

/** Changes of several people's notifications, behind the locks on the counts of all of them. */
export async function keepTalliesOfAll(
  db: Db,
  companyId: number,
  changes: readonly (TallyChange & { employeeId: number })[],
): Promise<void> {
  const column = <Key extends keyof (TallyChange & { employeeId: number })>(key: Key) =>
    changes.map((change) => change[key]);
  await addToTallies(db, {
    companyId,
    employeeIds: column('employeeId'),
    app_type: column('app_type'),
    category: column('category'),
    priority: column('priority'),
    is_mention: column('is_mention'),
    is_read: column('is_read'),
    is_starred: column('is_starred'),
    is_later: column('is_later'),
    is_archived: column('is_archived'),
    by: column('by'),
  });
}

type Columns = { companyId: number; employeeIds: number[]; by: number[] } & {
  [Key in keyof Tallied]: Tallied[Key][];
};

const typeOf = (name: keyof Tallied) => sql.raw(name.startsWith('is_') ? 'boolean[]' : 'text[]');

const addToTallies = compiled<Columns, object>((db, blank) =>
  sql<object>`
    insert into notification_tallies as t (company_id, employee_id, ${columns}, count)
    select ${blank('companyId')}::bigint, employee_id, ${columns}, sum(by)
    from unnest(
      ${blank('employeeIds')}::bigint[],
      ${sql.join(talliedColumns.map((name) => sql`${blank(name)}::${typeOf(name)}`))}, ${blank('by')}::bigint[]
    ) as changed (employee_id, ${columns}, by)
    group by employee_id, ${columns} having sum(by) <> 0
    order by employee_id, ${columns}
    on conflict (company_id, employee_id, ${columns}) do update set count = t.count + excluded.count`.compile(db),
);

/** All that were unread have been read. */
export const tallyAllAsRead = compiled<Recipient, object>((db, blank) => {
  const asRead = talliedColumns.map((name) => (name === 'is_read' ? sql`true` : sql.ref(name)));
  return sql<object>`
    with moved as (
      delete from notification_tallies
      where company_id = ${blank('companyId')} and employee_id = ${blank('employeeId')} and not is_read
      returning *
    )
    insert into notification_tallies as t (company_id, employee_id, ${columns}, count)
    select company_id, employee_id, ${sql.join(asRead)}, count from moved
    order by ${columns}
    on conflict (company_id, employee_id, ${columns}) do update set count = t.count + excluded.count`.compile(db);
});

/** All of them have gone. */
export async function clearTallies(db: Db, { companyId, employeeId }: Recipient): Promise<void> {
  await db
    .deleteFrom('notification_tallies')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .execute();
}

/** The columns that a list is narrowed by, each to one value. */
export type Narrowed = { [Key in keyof Tallied]?: Tallied[Key] | undefined };

/** The names of those columns: lists and totals have a statement for each choice of them. */
export const narrowedBy = (wanted: Narrowed): string =>
  talliedColumns.filter((name) => wanted[name] !== undefined).join(' ');

export const namesIn = (narrowing: string): (keyof Tallied)[] =>
  talliedColumns.filter((name) => narrowing.split(' ').includes(name));

/** How many notifications a person has of which those columns are as given. */
export async function countTallied(db: Db, recipient: Recipient, wanted: Narrowed): Promise<number> {
  const [row] = await sumTallies(db, narrowedBy(wanted), { ...recipient, ...wanted });
  return row!.count;
}

const sumTallies = compiledFor<string, Recipient & Narrowed, { count: number }>((db, blank, narrowing) => {
  const conditions = namesIn(narrowing).map((name) => sql` and ${sql.ref(name)} = ${blank(name)}`);
  return sql<{ count: number }>`
    select coalesce(sum(count), 0)::bigint as count from notification_tallies
    where company_id = ${blank('companyId')} and employee_id = ${blank('employeeId')}
    ${sql.join(conditions, sql``)}`.compile(db);
});

/** What should be kept of a company: (employee_id, the columns, count). */
export const talliedAnew = (companyId: number) => sql`
  select recipient_id as employee_id, ${columns}, count(*) as count
  from notifications where company_id = ${companyId} group by recipient_id, ${columns}`;

/** Counts all notifications of a company anew. Nobody else may be at work in it. */
export async function recountTallies(db: Db, companyId: number): Promise<void> {
  await db.deleteFrom('notification_tallies').where('company_id', '=', companyId).execute();
  await sql`
    insert into notification_tallies (company_id, employee_id, ${columns}, count)
    select ${companyId}::bigint, employee_id, ${columns}, count from (${talliedAnew(companyId)}) as counted`.execute(
    db,
  );
}
