import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { notFoundIssue, validationFailed } from '../../errors/errors.ts';
import { fromProjects } from '../projects/queries.ts';
import { lockVisibleTasks } from '../tasks/queries.ts';
import type { TaskDraft } from './drafts.ts';
import { findProjectsByName, findTasksByTitle, listTargets } from './queries.ts';
import type { Source } from './schemas.ts';

/** A task that is there already. */
export type Target = { taskId: number; projectId: number; project: string; billable: boolean };

export type Asked = {
  companyId: number;
  source: Source;
  /** Projects by what the file calls them, as the caller says. */
  projects: Record<string, number>;
  isDry: boolean;
};

type Tasks = ReadonlyMap<string, TaskDraft>;
/** The tasks to find or create, and those that were imported and get more time, by reference. */
type Sought = { tasks: Tasks; imported: ReadonlyMap<string, number> };

export type Found = {
  /** Projects by name. */
  projectIds: Map<string, number>;
  /** Tasks by reference. */
  targets: Map<string, Target>;
  /** References that could mean several things, with a sentence each. */
  ambiguous: Map<string, string>;
};

/** Finds projects by their names and tasks by their titles. A real run locks the tasks. */
export async function findTargets(
  db: Db,
  { companyId, projects, isDry }: Asked,
  { tasks, imported }: Sought,
): Promise<Found> {
  const { projectIds, several } = await findProjects(db, companyId, tasks, projects);
  const ambiguous = new Map<string, string>();
  for (const [ref, { project }] of tasks)
    if (several.has(project))
      ambiguous.set(
        ref,
        `names the project ${JSON.stringify(project)}, and the company has several: say in \`projects\` which is meant`,
      );

  const titled = await listTitled(db, companyId, tasks, projectIds);
  for (const [ref, [, ...others]] of titled)
    if (others.length > 0)
      ambiguous.set(ref, `names the task ${JSON.stringify(tasks.get(ref)!.title)}, and the project has several`);

  const known = new Map([...[...titled].map(([ref, [first]]) => [ref, first!] as const), ...imported]);
  return { projectIds, targets: await readTargets(db, companyId, known, isDry), ambiguous };
}

async function findProjects(db: Db, companyId: number, tasks: Tasks, mapping: Record<string, number>) {
  const mapped = await readMapping(db, companyId, mapping);
  const names = new Set([...tasks.values()].map(({ project }) => project).filter((name) => !mapped.has(name)));
  const found = names.size === 0 ? [] : await findProjectsByName(db, companyId, [...names]);
  const byName = Map.groupBy(found, ({ name }) => name);
  return {
    projectIds: new Map([...mapped, ...found.map(({ name, project_id }) => [name, project_id] as const)]),
    several: new Set([...byName].flatMap(([name, { length }]) => (length > 1 ? [name] : []))),
  };
}

/** Refuses a mapping to what is no project of the company. */
async function readMapping(db: Db, companyId: number, mapping: Record<string, number>): Promise<Map<string, number>> {
  const entries = Object.entries(mapping);
  if (entries.length === 0) return new Map();
  const rows = await fromProjects(db, companyId)
    .where('project_id', '=', sql<number>`any(${entries.map(([, projectId]) => projectId)}::bigint[])`)
    .select('project_id')
    .execute();
  const known = new Set(rows.map((row) => row.project_id));
  const issues = entries
    .filter(([, projectId]) => !known.has(projectId))
    .map(([name]) => notFoundIssue('projects', name));
  if (issues.length > 0) throw validationFailed(issues);
  return new Map(entries);
}

/** The tasks that have the title of one that is known by it alone, by reference. */
async function listTitled(
  db: Db,
  companyId: number,
  tasks: Tasks,
  projectIds: ReadonlyMap<string, number>,
): Promise<Map<string, number[]>> {
  const sought = [...tasks].filter(([, { key, project }]) => key === null && projectIds.has(project));
  if (sought.length === 0) return new Map();
  const placeOf = (projectId: number, title: string) => `${projectId} ${title}`;
  const within = new Set(sought.map(([, { project }]) => projectIds.get(project)!));
  const titles = new Set(sought.map(([, { title }]) => title));
  const rows = await findTasksByTitle(db, companyId, [...within], [...titles]);
  const found = Map.groupBy(rows, (row) => placeOf(row.project_id, row.title));
  const entries = sought.map(([ref, { project, title }]) => {
    const same = found.get(placeOf(projectIds.get(project)!, title)) ?? [];
    return [ref, same.map((row) => row.task_id)] as const;
  });
  return new Map(entries.filter(([, ids]) => ids.length > 0));
}

/** A task that was deleted since it was found is created again. */
async function readTargets(
  db: Db,
  companyId: number,
  known: ReadonlyMap<string, number>,
  isDry: boolean,
): Promise<Map<string, Target>> {
  if (known.size === 0) return new Map();
  const ids = [...known.values()];
  const open = isDry ? ids : (await lockVisibleTasks(db, companyId, ids)).map((task) => task.task_id);
  const rows = await listTargets(db, companyId, open);
  const byId = new Map(rows.map((row) => [row.task_id, row]));
  return new Map(
    [...known].flatMap(([ref, taskId]) => {
      const row = byId.get(taskId);
      if (!row) return [];
      return [[ref, { taskId, projectId: row.project_id, project: row.project, billable: row.billable }] as const];
    }),
  );
}
