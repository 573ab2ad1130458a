import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { reaction, type AnyReaction } from '../../kernel/reaction.ts';
import { transact } from '../../kernel/transact.ts';
import { id } from '../../kernel/wire.ts';
import { notify } from '../notifications/notify.ts';

/**
 * Tells the admins that a project has taken more hours than it was allocated. The figures are those of the crossing;
 * who is an admin is asked when it runs, for the delivery may have waited.
 */
const projectHoursExceeded = reaction({
  name: 'project-hours-exceeded',
  payload: z.object({
    companyId: id,
    projectId: id,
    /** Names this crossing: the next one of the same project notifies again. */
    crossing: z.string(),
    allocatedHours: z.number(),
    loggedHours: z.number(),
  }),
  async run(services, { companyId, projectId, crossing, allocatedHours, loggedHours }) {
    const { clock, settings } = services;
    await transact(services, companyId, async (db) => {
      const project = await db
        .selectFrom('projects')
        .where('company_id', '=', companyId)
        .where('project_id', '=', projectId)
        .where('deleted_at', 'is', null)
        .select('name')
        .executeTakeFirst();
      const admins = project ? await listActiveAdmins(db, companyId) : [];
      const notifications = admins.map(({ employee_id: recipientId }) => ({
        recipientId,
        cause: `project ${projectId} exceeded ${crossing}`,
        appType: 'task' as const,
        category: 'project' as const,
        priority: 'primary' as const,
        title: `${project!.name} is over its allocated hours`,
        message: `${project!.name} has ${loggedHours} hours logged, and ${allocatedHours} allocated.`,
        link: `${settings.appUrl}/projects/${projectId}`,
        actorId: null,
        projectId,
      }));
      await notify(db, companyId, notifications, clock.now());
    });
  },
});

async function listActiveAdmins(db: Db, companyId: number): Promise<{ employee_id: number }[]> {
  return db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where('is_admin', '=', true)
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    .select('employee_id')
    .execute();
}

/** What this feature owes the outside because of its facts. */
export const reactions: AnyReaction[] = [projectHoursExceeded];
