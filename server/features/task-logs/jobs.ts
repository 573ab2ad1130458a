import { z } from 'zod';
import { jobHandler, type AnyJobHandler, type JobServices } from '../../kernel/job.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { id } from '../../kernel/wire/fields.ts';
import { writeMoney } from '../../kernel/wire/money.ts';
import { listActiveAdmins } from '../employees/queries.ts';
import { notify, type NewNotification } from '../notifications/notify.ts';
import { findProject } from '../projects/queries.ts';

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
    await notifyAdmins(
      services,
      { companyId, projectId, cause: `project ${projectId} exceeded ${crossing}` },
      (name) => ({
        category: 'project',
        title: `${name} is over its allocated hours`,
        message: `${name} has ${loggedHours} hours logged, and ${allocatedHours} allocated.`,
      }),
    );
  },
});

/** Notifies the admins that a project used a share of its allocated hours or of its budget, with the figures of the crossing. */
const projectShareReached = jobHandler({
  name: 'project-share-reached',
  payload: z.object({
    companyId: id,
    projectId: id,
    crossing: z.string(),
    measure: z.enum(['hours', 'money']),
    percent: z.union([z.literal(50), z.literal(80), z.literal(100)]),
    used: z.number(),
    limit: z.number(),
    currency: z.string().nullable(),
  }),
  async run(services, { companyId, projectId, crossing, measure, percent, used, limit, currency }) {
    const write = (value: number) =>
      currency === null ? `${value} hours` : writeMoney({ minorUnits: value, currency });
    const isOver = percent === 100;
    const [have, of] = measure === 'hours' ? ['logged', 'hours'] : ['charged', 'budget'];
    await notifyAdmins(
      services,
      { companyId, projectId, cause: `project ${projectId} reached ${crossing}` },
      (name) => ({
        title: isOver
          ? `${name} is over its ${of}`
          : `${name} has used ${Math.floor((used / limit) * 100)} % of its ${of}`,
        message: `${name} has ${write(used)} ${have}, of ${write(limit)}.`,
        // The category of projects tells of limits that are exceeded, once per crossing.
        category: isOver ? 'project' : 'need_attention',
      }),
    );
  },
});

type Cause = { companyId: number; projectId: number; cause: string };

async function notifyAdmins(
  services: JobServices,
  { companyId, projectId, cause }: Cause,
  describe: (projectName: string) => Pick<NewNotification, 'title' | 'message' | 'category'>,
): Promise<void> {
  const { clock, settings } = services;
  await inTransaction(services, companyId, async (db) => {
    const project = await findProject(db, companyId, projectId);
    const admins = project ? await listActiveAdmins(db, companyId) : [];
    const notifications = admins.map((recipientId) => ({
      recipientId,
      cause,
      appType: 'task' as const,
      priority: 'primary' as const,
      ...describe(project!.name),
      link: `${settings.appUrl}/projects/${projectId}`,
      actorId: null,
      projectId,
    }));
    await notify(db, companyId, notifications, clock.now());
  });
}

export const handlers: AnyJobHandler[] = [projectHoursExceeded, projectShareReached];
