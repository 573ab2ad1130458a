import { sql, type Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import type { Member } from '../../kernel/context.ts';
import type { StreamName } from '../../kernel/streams.ts';
import { hoursOf } from './hours.ts';
import type { Project, projectStatuses } from './schemas.ts';

export type ProjectStatus = (typeof projectStatuses)[number];

export type ProjectRow = Omit<Selectable<Schema['projects']>, 'is_exceeded' | 'deleted_at'>;

/** The columns of a Project. */
export const projectColumns = [
  'company_id',
  'project_id',
  'name',
  'description',
  'owner_id',
  'allocated_hours',
  'logged_seconds',
  'billable',
  'budget_minor_units',
  'budget_currency',
  'status',
  'created_at',
  'updated_at',
] as const;

/** The projects of one company that are not deleted, for further conditions. */
export function fromProjects(db: Db, companyId: number) {
  return db.selectFrom('projects').where('company_id', '=', companyId).where('deleted_at', 'is', null);
}

function selectProject(db: Db, companyId: number, projectId: number) {
  return fromProjects(db, companyId).where('project_id', '=', projectId).select(projectColumns);
}

export async function findProject(db: Db, companyId: number, projectId: number): Promise<ProjectRow | undefined> {
  return selectProject(db, companyId, projectId).executeTakeFirst();
}

/** The same, with the row lock for a change. */
export async function lockProject(db: Db, companyId: number, projectId: number): Promise<ProjectRow | undefined> {
  return selectProject(db, companyId, projectId).forNoKeyUpdate().executeTakeFirst();
}

/** The same, with the row lock for a deletion: it waits for changes of the tasks in the project. */
export async function lockProjectToDelete(
  db: Db,
  companyId: number,
  projectId: number,
): Promise<ProjectRow | undefined> {
  return selectProject(db, companyId, projectId).forUpdate().executeTakeFirst();
}

export async function isProject(db: Db, companyId: number, projectId: number): Promise<boolean> {
  const row = await fromProjects(db, companyId)
    .where('project_id', '=', projectId)
    .select('project_id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Those of the given projects, of any companies, that are not deleted. */
export async function findVisibleProjects(db: Db, projects: StreamName[]): Promise<StreamName[]> {
  const { rows } = await sql<{ company_id: number; project_id: number }>`
    select p.company_id, p.project_id
    from unnest(
      ${projects.map((one) => one.companyId)}::bigint[], ${projects.map((one) => one.subject)}::bigint[]
    ) as asked (company_id, project_id)
    join projects as p on p.company_id = asked.company_id and p.project_id = asked.project_id
    where p.deleted_at is null`.execute(db);
  return rows.map((row) => ({ companyId: row.company_id, subject: row.project_id }));
}

/** Whether the caller may change a project, and delete projects and tasks: the owner and those who lead. */
export function mayManage(caller: Member, thing: { owner_id: number }): boolean {
  return caller.isAdmin || caller.isTeamLeader || thing.owner_id === caller.employeeId;
}

/** A project without money, which is for admins: see money.ts. */
export function toProject(row: ProjectRow): z.input<typeof Project> {
  return {
    _id: row.project_id,
    name: row.name,
    description: row.description,
    companyId: row.company_id,
    owner_id: row.owner_id,
    allocatedHours: row.allocated_hours,
    loggedHours: hoursOf(row.logged_seconds),
    billable: row.billable,
    budget: null,
    amounts: null,
    status: row.status as ProjectStatus,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
