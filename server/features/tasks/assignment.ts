import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJob, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { id } from '../../kernel/wire/fields.ts';
import { listActiveIds } from '../employees/queries.ts';
import { notify, type NewNotification } from '../notifications/notify.ts';
import { findVisibleTask } from './queries.ts';

/** Notifies people that they own a task or collaborate on it, if that is still so. */
const taskAssigned = jobHandler({
  name: 'task-assigned',
  payload: z.object({
    companyId: id,
    taskId: id,
    actorId: id,
    /** Identifies this change: a later assignment notifies again. */
    change: z.string(),
    ownerId: id.nullable(),
    collaboratorIds: z.array(id),
  }),
  async run(services, { companyId, taskId, actorId, change, ownerId, collaboratorIds }) {
    const { clock, settings } = services;
    await inTransaction(services, companyId, async (db) => {
      const task = await findVisibleTask(db, companyId, taskId);
      if (!task) return;
      const { name: actor } = await db
        .selectFrom('employees')
        .where('company_id', '=', companyId)
        .where('employee_id', '=', actorId)
        .select('name')
        .executeTakeFirstOrThrow();
      const collaborators = new Set(await listCollaboratorIds(db, companyId, taskId));
      const owners = ownerId === task.owner_id ? [ownerId] : [];
      const others = collaboratorIds.filter((one) => collaborators.has(one) && !owners.includes(one));
      const active = await listActiveIds(db, companyId, [...owners, ...others]);
      const toTell = (recipientId: number): NewNotification => ({
        recipientId,
        cause: `task ${taskId} assigned ${change}`,
        appType: 'task',
        category: 'task',
        priority: 'primary',
        title: `${actor} ${recipientId === ownerId ? 'assigned you' : 'made you a collaborator on'} ${task.title}`,
        message: recipientId === ownerId ? 'The task is yours now.' : 'You are told of what happens on it.',
        link: `${settings.appUrl}/tasks/${taskId}`,
        actorId,
        taskId,
        projectId: task.project_id,
      });
      const recipients = [...owners, ...others].filter((one) => one !== actorId && active.has(one));
      await notify(db, companyId, recipients.map(toTell), clock.now());
    });
  },
});

async function listCollaboratorIds(db: Db, companyId: number, taskId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('task_collaborators')
    .where('company_id', '=', companyId)
    .where('task_id', '=', taskId)
    .select('employee_id')
    .execute();
  return rows.map((row) => row.employee_id);
}

/** Enqueues a notification of a new owner and new collaborators, except of their own change. */
export async function notifyAssigned(
  db: Db,
  people: { companyId: number; taskId: number; actorId: number; ownerId: number | null; collaboratorIds: number[] },
  now: Date,
): Promise<void> {
  const isNews = (employeeId: number | null) => employeeId !== null && employeeId !== people.actorId;
  if (![people.ownerId, ...people.collaboratorIds].some(isNews)) return;
  const change = randomUUID();
  await enqueueJob(db, taskAssigned, { dedupeKey: change, payload: { ...people, change }, now });
}

export const handlers: AnyJobHandler[] = [taskAssigned];
