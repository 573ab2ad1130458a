import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { kinds, type SearchKind } from './kinds.ts';
import { termsOf, type Query } from './terms.ts';

/** So many rows of each kind are ranked, the newest ones that match, and as many whose names match. */
export const candidatesMax = 200;
/** And so many with slips, whatever matches. */
const slipsMax = 50;

/** Where a search looks. */
export type Scope = {
  companyId: number;
  kinds: readonly SearchKind[];
  projectId: number | undefined;
  /** The last number of each kind that the first page found; rows after it are not on later pages. */
  upTo: Record<SearchKind, number> | undefined;
};

/** A row that matches. */
export type Candidate = { kind: SearchKind; id: number; name: string };

type Wanted = { rest: Pick<Query, 'words' | 'runs'>; alternatives?: string[][] };

/** The newest matches of each kind: `search_matches` in db/migrations/0034-search.ts finds their numbers, this reads their names. */
export async function findCandidates(db: Db, scope: Scope, { rest, alternatives = [] }: Wanted): Promise<Candidate[]> {
  const asked = kinds.filter(
    (kind) => scope.kinds.includes(kind) && !(kind === 'employee' && scope.projectId !== undefined),
  );
  if (asked.length === 0) return [];
  const branches = asked.map((kind) => namedMatches(scope, kind, { rest, alternatives }));
  const { rows } = await sql<Candidate>`${sql.join(branches, sql` union all `)}`.execute(db);
  return distinct(rows);
}

const tables = {
  employee: { table: 'employees', id: 'employee_id', name: 'name' },
  project: { table: 'projects', id: 'project_id', name: 'name' },
  task: { table: 'tasks', id: 'task_id', name: 'title' },
  comment: { table: 'comments', id: 'comment_id', name: undefined },
};

/** Each row is looked up by itself: as a join, a plan for any company reads all rows of a large one. */
function namedMatches(scope: Scope, kind: SearchKind, { rest, alternatives }: Required<Wanted>): RawBuilder<Candidate> {
  const { companyId, projectId, upTo } = scope;
  const { table, id, name } = tables[kind];
  const containing = rest.runs.filter((run) => Array.from(run).length > 2).map((run) => `%${run}%`);
  const words = [...termsOf(rest).map((term) => [term]), ...alternatives];
  return sql`
    select ${sql.lit(kind)} as kind, m.id, r.name
    from search_matches(
      ${sql.lit(kind)}, ${companyId}, ${JSON.stringify(words)}::jsonb, ${containing}::text[],
      ${projectId ?? null}::bigint, ${upTo?.[kind] ?? Number.MAX_SAFE_INTEGER}::bigint, ${alternatives.length === 0 ? candidatesMax : slipsMax}
    ) as m (id) cross join lateral (
      select ${name === undefined ? sql`''` : sql.ref(name)} as name from ${sql.table(table)}
      where company_id = ${companyId} and ${sql.ref(id)} = m.id limit 1
    ) as r`;
}

/** Each once: among the newest there are rows whose names match as well. */
const distinct = (rows: Candidate[]): Candidate[] => [
  ...new Map(rows.map((row) => [`${row.kind} ${row.id}`, row])).values(),
];
