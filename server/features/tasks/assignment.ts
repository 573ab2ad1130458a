import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJob, jobHandler, type AnyJobHandler, type JobServices } from '../../kernel/job.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { id } from '../../kernel/wire/fields.ts';
import { listActiveIds, listNames } from '../employees/queries.ts';
import { notify, type NewNotification } from '../notifications/notify.ts';
import { selectVisibleTasks } from './queries.ts';

const Assignment = z.object({
  companyId: id,
  taskId: id,
  actorId: id,
  /** Identifies this change: a later assignment notifies again. */
  change: z.string(),
  ownerId: id.nullable(),
  collaboratorIds: z.array(id),
});
type Assignment = z.infer<typeof Assignment>;

/** Notifies people that they own a task or collaborate on it, if that is still so. */
export const taskAssigned = jobHandler({
  name: 'task-assigned',
  payload: Assignment,
  run: (services, assignment) => notifyOfAssignments(services, assignment.companyId, [assignment]),
  runBatch: notifyOfAssignments,
});

async function notifyOfAssignments(services: JobServices, companyId: number, assignments: Assignment[]): Promise<void> {
  const { clock, settings } = services;
  await inTransaction(services, companyId, async (db) => {
    const tasks = await listTasks(
      db,
      companyId,
      assignments.map(({ taskId }) => taskId),
    );
    if (tasks.size === 0) return;
    const people = assignments.flatMap(({ ownerId, collaboratorIds }) => [ownerId ?? [], collaboratorIds].flat());
    const active = await listActiveIds(db, companyId, people);
    const names = await listNames(
      db,
      companyId,
      assignments.map(({ actorId }) => actorId),
    );
    const notifications = assignments.flatMap(({ taskId, actorId, change, ownerId, collaboratorIds }) => {
      const task = tasks.get(taskId);
      if (!task) return [];
      const owners = ownerId !== null && ownerId === task.owner_id ? [ownerId] : [];
      const others = collaboratorIds.filter((one) => task.collaboratorIds.includes(one) && !owners.includes(one));
      const toTell = (recipientId: number): NewNotification => ({
        recipientId,
        cause: `task ${taskId} assigned ${change}`,
        appType: 'task',
        category: 'task',
        priority: 'primary',
        title: `${names.get(actorId)!} ${recipientId === ownerId ? 'assigned you' : 'made you a collaborator on'} ${task.title}`,
        message: recipientId === ownerId ? 'The task is yours now.' : 'You are told of what happens on it.',
        link: `${settings.appUrl}/tasks/${taskId}`,
        actorId,
        taskId,
        projectId: task.project_id,
      });
      return [...owners, ...others].filter((one) => one !== actorId && active.has(one)).map(toTell);
    });
    await notify(db, companyId, notifications, clock.now());
  });
}

/** Those of the tasks that are visible, with who owns them and collaborates on them, by their identifiers. */
async function listTasks(db: Db, companyId: number, taskIds: number[]) {
  const rows = await selectVisibleTasks(db, companyId)
    .where((eb) => eb('t.task_id', '=', eb.fn.any(eb.val(taskIds))))
    .select(['t.task_id', 't.project_id', 't.title', 't.owner_id'])
    .execute();
  const collaborators = await db
    .selectFrom('task_collaborators')
    .where('company_id', '=', companyId)
    .where((eb) => eb('task_id', '=', eb.fn.any(eb.val(taskIds))))
    .select(['task_id', 'employee_id'])
    .execute();
  const byTask = Map.groupBy(collaborators, (one) => one.task_id);
  return new Map(
    rows.map((row) => {
      const collaboratorIds = (byTask.get(row.task_id) ?? []).map((one) => one.employee_id);
      return [row.task_id, { ...row, collaboratorIds }];
    }),
  );
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
