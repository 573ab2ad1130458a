import { sql } from 'kysely';
import { compiled } from '../../../db/compiled.ts';
import { list } from '../../../db/list.ts';
import type { Db } from '../../../db/open.ts';

export type ExceededProject = { projectId: number; allocatedHours: number; loggedHours: number };

/** Hours to two decimals. */
export function hoursOf(seconds: number): number {
  return Math.round(seconds / 36) / 100;
}

/** Those of the given projects that exceed their allocation now. */
export async function listExceededProjects(
  db: Db,
  companyId: number,
  projectIds: readonly number[],
): Promise<ExceededProject[]> {
  const rows = await readExceeded(db, { companyId, projectIds });
  return rows.map((row) => ({
    projectId: row.project_id,
    allocatedHours: row.allocated_hours!,
    loggedHours: hoursOf(row.logged_seconds),
  }));
}

type Projects = { companyId: number; projectIds: readonly number[] };
type Exceeded = { project_id: number; allocated_hours: number | null; logged_seconds: number };

const readExceeded = compiled<Projects, Exceeded>((db, blank) =>
  db
    .selectFrom('projects')
    .where('company_id', '=', blank('companyId'))
    .where('project_id', '=', sql<number>`any(${list(blank('projectIds'), 'bigint')})`)
    .where('deleted_at', 'is', null)
    .where('is_exceeded', '=', true)
    .select(['project_id', 'allocated_hours', 'logged_seconds'])
    .orderBy('project_id')
    .compile(),
);
