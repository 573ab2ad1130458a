import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { deliver, reaction, type AnyReaction } from '../../kernel/reaction.ts';
import { transact } from '../../kernel/transact.ts';
import { id } from '../../kernel/wire.ts';
import { listActiveIds } from '../employees/queries.ts';
import { notify } from '../notifications/notify.ts';

/** Tells somebody that a project is theirs now, while it still is. */
const projectOwned = reaction({
  name: 'project-owned',
  payload: z.object({ companyId: id, projectId: id, actorId: id, ownerId: id, change: z.string() }),
  async run(services, { companyId, projectId, actorId, ownerId, change }) {
    const { clock, settings } = services;
    await transact(services, companyId, async (db) => {
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

/** Has the new owner of a project told, unless they made themself that. Wake the deliveries, where it answers true. */
export async function tellOwner(
  db: Db,
  project: { companyId: number; projectId: number; actorId: number; ownerId: number },
  now: Date,
): Promise<boolean> {
  if (project.ownerId === project.actorId) return false;
  const change = randomUUID();
  await deliver(db, projectOwned, { dedupeKey: change, payload: { ...project, change }, now });
  return true;
}

/** What this feature owes the outside because of its facts. */
export const reactions: AnyReaction[] = [projectOwned];
