import { sql } from 'kysely';
import { compiled } from '../../../db/pipeline/compiled.ts';
import { list } from '../../../db/pipeline/list.ts';
import type { Db } from '../../../db/open.ts';
import { hoursOf } from '../projects/hours.ts';

export type ExceededProject = { projectId: number; allocatedHours: number; loggedHours: number };

/** The given projects that exceed their allocation now. */
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

const readExceeded = compiled<Projects, Exceeded>((db, placeholder) =>
  db
    .selectFrom('projects')
    .where('company_id', '=', placeholder('companyId'))
    .where('project_id', '=', sql<number>`any(${list(placeholder('projectIds'), 'bigint')})`)
    .where('deleted_at', 'is', null)
    .where('is_exceeded', '=', true)
    .select(['project_id', 'allocated_hours', 'logged_seconds'])
    .orderBy('project_id')
    .compile(),
);
