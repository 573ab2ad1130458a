import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Member } from '../../kernel/context.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { changeEvent, changesOf, findChanges, recordChange } from '../../kernel/change-event.ts';
import { TaskLog } from './task-log.ts';

type TaskLogRecord = z.input<typeof TaskLog>;

const { _id } = TaskLog.shape;
const { shape: changing } = TaskLog.omit({ _id: true, createdAt: true, updatedAt: true });

export const taskLogCreated = changeEvent('task_log.created', 'Time was logged on a task.', {
  taskLogId: _id,
  taskLog: TaskLog,
});

export const taskLogUpdated = changeEvent(
  'task_log.updated',
  'Somebody has changed a task log. One that moves to another project is sent to both.',
  { taskLogId: _id, taskLog: TaskLog, changes: changesOf(changing) },
);

export const taskLogDeleted = changeEvent(
  'task_log.deleted',
  'Somebody has deleted a task log: `taskLog` is what it was.',
  { taskLogId: _id, taskLog: TaskLog },
);

/** Records what has changed between two states of a log. One that moves is told of in both projects. */
export function recordTaskLogUpdate(
  db: Db,
  { companyId, employeeId: actorId }: Member,
  { before, after, at }: { before: TaskLogRecord; after: TaskLogRecord; at: Date },
): void {
  const changes = findChanges(changing, before, after);
  if (!changes) return;
  const streams = [...new Set([before.projectId, after.projectId])].map(changeStream.project);
  const payload = { actorId, taskLogId: after._id, taskLog: after, changes };
  recordChange(db, taskLogUpdated, { companyId, streams, payload, at });
}

/** Records that time was logged, for the subscribers of the project. */
export function recordTaskLogCreated(
  db: Db,
  { companyId, actorId, taskLog, at }: { companyId: number; actorId: number | null; taskLog: TaskLogRecord; at: Date },
): void {
  const streams = [changeStream.project(taskLog.projectId)];
  recordChange(db, taskLogCreated, { companyId, streams, payload: { actorId, taskLogId: taskLog._id, taskLog }, at });
}
