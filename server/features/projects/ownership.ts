import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJob, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { id } from '../../kernel/wire/fields.ts';
import { listActiveIds } from '../employees/queries.ts';
import { notify } from '../notifications/notify.ts';

/** Notifies the new owner of a project, if they still are. */
const projectOwned = jobHandler({
  name: 'project-owned',
  payload: z.object({ companyId: id, projectId: id, actorId: id, ownerId: id, change: z.string() }),
  async run(services, { companyId, projectId, actorId, ownerId, change }) {
    const { clock, settings } = services;
    await inTransaction(services, companyId, async (db) => {
      const project = await db
        .selectFrom('projects as p')
        .innerJoin('employees as a', (join) =>
          join.onRef('a.company_id', '=', 'p.company_id').on('a.employee_id', '=', actorId),
        )
        .where('p.company_id', '=', companyId)
        .where('p.project_id', '=', projectId)
        .where('p.owner_id', '=', ownerId)
        .where('p.deleted_at', 'is', null)
        .select(['p.name', 'a.name as actor'])
        .executeTakeFirst();
      const active = await listActiveIds(db, companyId, [ownerId]);
      if (!project || !active.has(ownerId)) return;
      const notification = {
        recipientId: ownerId,
        cause: `project ${projectId} owned ${change}`,
        appType: 'task' as const,
        category: 'project' as const,
        priority: 'primary' as const,
        title: `${project.actor} made you the owner of ${project.name}`,
        message: 'You answer for the project now, and may change it.',
        link: `${settings.appUrl}/projects/${projectId}`,
        actorId,
        projectId,
      };
      await notify(db, companyId, [notification], clock.now());
    });
  },
});

/** Enqueues a notification of the new owner, unless they made the change. */
export async function notifyNewOwner(
  db: Db,
  project: { companyId: number; projectId: number; actorId: number; ownerId: number },
  now: Date,
): Promise<void> {
  if (project.ownerId === project.actorId) return;
  const change = randomUUID();
  await enqueueJob(db, projectOwned, { dedupeKey: change, payload: { ...project, change }, now });
}

export const handlers: AnyJobHandler[] = [projectOwned];
