import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { plainTextOf } from '../comments/rich-text.ts';
import type { SearchKind } from './kinds.ts';

/** What is shown of a row that matches. */
export type Document = {
  kind: SearchKind;
  id: number;
  name: string;
  body: string;
  project_id: number | null;
  task_id: number | null;
};

/** As much of a text as is searched, and of a message with its markup. */
const searchedMax = 4_000;
const markupMax = 16_000;

/** Reads the rows of a page, in one statement; those that are deleted by now are missing. */
export async function readDocuments(
  db: Db,
  companyId: number,
  page: readonly { kind: SearchKind; id: number }[],
): Promise<Map<string, Document>> {
  if (page.length === 0) return new Map();
  const branches = (Object.keys(selects) as SearchKind[]).map((kind) =>
    selects[kind](
      companyId,
      page.filter((row) => row.kind === kind).map(({ id }) => id),
    ),
  );
  const { rows } = await sql<Document>`${sql.join(branches, sql` union all `)}`.execute(db);
  return new Map(rows.map((row) => [`${row.kind} ${row.id}`, { ...row, body: bodyOf(row) }]));
}

function bodyOf({ kind, body }: Document): string {
  const text = kind === 'comment' ? plainTextOf(body.replace(cutMarkup, '')) : body;
  return text.slice(0, 2 * searchedMax);
}

/** A tag or an entity at the end of a message that is cut inside of it. */
const cutMarkup = /(?:<[^>]*|&[a-z]{0,4})$/;

const selects: Record<SearchKind, (companyId: number, ids: number[]) => RawBuilder<Document>> = {
  employee: (companyId, ids) => sql`
    select 'employee' as kind, employee_id as id, name,
      case when coalesce(designation, '') = '' then email else designation || ' · ' || email end as body,
      null::bigint as project_id, null::bigint as task_id
    from employees where company_id = ${companyId} and employee_id = any(${ids}::bigint[]) and not is_deleted`,
  project: (companyId, ids) => sql`
    select 'project', project_id, name, left(coalesce(description, ''), ${sql.lit(searchedMax)}), project_id, null::bigint
    from projects where company_id = ${companyId} and project_id = any(${ids}::bigint[]) and deleted_at is null`,
  task: (companyId, ids) => sql`
    select 'task', t.task_id, t.title, left(coalesce(t.description, ''), ${sql.lit(searchedMax)}), t.project_id, t.task_id
    from tasks as t join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
    where t.company_id = ${companyId} and t.task_id = any(${ids}::bigint[]) and t.deleted_at is null and p.deleted_at is null`,
  comment: (companyId, ids) => sql`
    select 'comment', c.comment_id, t.title, left(coalesce(c.message, ''), ${sql.lit(markupMax)}), t.project_id, c.task_id
    from comments as c
    join tasks as t on t.company_id = c.company_id and t.task_id = c.task_id
    join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
    where c.company_id = ${companyId} and c.comment_id = any(${ids}::bigint[]) and not c.is_deleted
      and t.deleted_at is null and p.deleted_at is null`,
};
