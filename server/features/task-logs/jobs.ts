import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { id } from '../../kernel/wire/fields.ts';
import { notify } from '../notifications/notify.ts';

/**
 * Notifies the admins that a project exceeded its allocated hours. The figures are those of the crossing; the admins
 * are looked up when the job runs, because it may have waited.
 */
const projectHoursExceeded = jobHandler({
  name: 'project-hours-exceeded',
  payload: z.object({
    companyId: id,
    projectId: id,
    /** Identifies this crossing: the next one of the same project notifies again. */
    crossing: z.string(),
    allocatedHours: z.number(),
    loggedHours: z.number(),
  }),
  async run(services, { companyId, projectId, crossing, allocatedHours, loggedHours }) {
    const { clock, settings } = services;
    await inTransaction(services, companyId, async (db) => {
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

export const handlers: AnyJobHandler[] = [projectHoursExceeded];
