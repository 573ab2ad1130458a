import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { compiled, compiledFor } from '../../../db/compiled.ts';
import { list } from '../../../db/list.ts';
import type { Db } from '../../../db/open.ts';
import { deliver } from '../../kernel/reaction.ts';
import { projectHoursExceeded } from './reactions.ts';

/*
 * A project's logged time, kept as logs change, against the hours that it was allocated. Crossing the allocation is a
 * turn of `is_exceeded`, decided under the lock of the project's row: however many requests cross it at once, one turns.
 *
 * Rows are locked in ascending order of their identifiers, and only FOR NO KEY UPDATE: two transactions that have both
 * inserted a log hold the project FOR KEY SHARE for their foreign keys, and a stronger lock would deadlock them.
 */

/**
 * Adds to the logged time of projects, in `changes` seconds, negative to take away, and holds them against their
 * allocations. Wake the deliveries after the commit: a project may have crossed its own.
 */
export async function addLoggedTime(
  db: Db,
  { companyId, changes, now }: { companyId: number; changes: ReadonlyMap<number, number>; now: Date },
): Promise<void> {
  const changed = [...changes].filter(([, seconds]) => seconds !== 0).toSorted(([a], [b]) => a - b);
  // Sent at once, each on its own: PostgreSQL takes longer to read a list of one than to change a row.
  const projects = await Promise.all(
    changed.map(([projectId, seconds]) => addSeconds(db, { companyId, projectId, seconds, now })),
  );
  await settle(db, { companyId, projects: projects.flat(), now });
}

type AddedSeconds = { companyId: number; projectId: number; seconds: number; now: Date };

const addSeconds = compiled<AddedSeconds, Allocation>((db, blank) =>
  sql<Allocation>`
    update projects as p
    set logged_seconds = p.logged_seconds + ${blank('seconds')}::bigint,
      updated_at = greatest(p.updated_at, ${blank('now')}::timestamptz)
    where p.company_id = ${blank('companyId')} and p.project_id = ${blank('projectId')}
    returning p.project_id, p.allocated_hours, p.logged_seconds, p.is_exceeded,
      case when p.deleted_at is null then ${exceeds} else p.is_exceeded end as exceeds`.compile(db),
);

/** Holds a project against its allocation, when that has changed in this transaction; wake the deliveries as above. */
export async function settleAllocation(
  db: Db,
  { companyId, projectId, now }: { companyId: number; projectId: number; now: Date },
): Promise<void> {
  const projects = await readAllocations(db, 'locked', { companyId, projectIds: [projectId] });
  await settle(db, { companyId, projects, now });
}

/**
 * A project that has just begun to exceed its allocation owes its admins a notification. One that no longer exceeds may
 * cross again. The rows are locked.
 */
async function settle(
  db: Db,
  { companyId, projects, now }: { companyId: number; projects: readonly Allocation[]; now: Date },
): Promise<void> {
  for (const project of projects) {
    if (project.exceeds === project.is_exceeded) continue;
    await db
      .updateTable('projects')
      .set({ is_exceeded: project.exceeds })
      .where('company_id', '=', companyId)
      .where('project_id', '=', project.project_id)
      .execute();
    if (!project.exceeds) continue;
    const crossing = randomUUID();
    const payload = { companyId, crossing, ...toExceeded(project) };
    await deliver(db, projectHoursExceeded, { dedupeKey: crossing, payload, now });
  }
}

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
  const rows = await readAllocations(db, 'as they are', { companyId, projectIds });
  return rows.filter(({ exceeds }) => exceeds).map(toExceeded);
}

type Allocation = {
  project_id: number;
  allocated_hours: number | null;
  logged_seconds: number;
  is_exceeded: boolean;
  exceeds: boolean;
};

/** A project without an allocation exceeds none. */
const exceeds = sql<boolean>`coalesce(logged_seconds > allocated_hours * 3600, false)`;

type Projects = { companyId: number; projectIds: readonly number[] };

const readAllocations = compiledFor<'locked' | 'as they are', Projects, Allocation>((db, blank, how) =>
  db
    .selectFrom('projects')
    .where('company_id', '=', blank('companyId'))
    .where('project_id', '=', sql<number>`any(${list(blank('projectIds'), 'bigint')})`)
    .where('deleted_at', 'is', null)
    .select(['project_id', 'allocated_hours', 'logged_seconds', 'is_exceeded'])
    .select(exceeds.as('exceeds'))
    .orderBy('project_id')
    .$if(how === 'locked', (query) => query.forNoKeyUpdate())
    .compile(),
);

const toExceeded = (row: Allocation): ExceededProject => ({
  projectId: row.project_id,
  allocatedHours: row.allocated_hours!,
  loggedHours: hoursOf(row.logged_seconds),
});
