import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Member } from '../../kernel/context.ts';
import { changeEvent, changesOf, cutText, findChanges, recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { Task } from './schemas.ts';

type TaskRecord = z.input<typeof Task>;

const { _id } = Task.shape;
const changing = {
  ...Task.omit({ _id: true, collaborators: true, createdAt: true, updatedAt: true }).shape,
  collaboratorIds: z.array(idOf('employee')),
};

export const taskCreated = changeEvent('task.created', 'Somebody has added a task.', { taskId: _id, task: Task });

export const taskUpdated = changeEvent(
  'task.updated',
  'Somebody has changed a task. One that moves to another project is sent to both, and takes its logs along without an event for each.',
  { taskId: _id, task: Task, changes: changesOf(changing) },
);

export const taskDeleted = changeEvent(
  'task.deleted',
  'Somebody has deleted a task: `task` is what it was. Its logs are not found from then on, without an event for each.',
  { taskId: _id, task: Task },
);

/** With up to a hundred collaborators, the names are what could make an event long. */
const nameMax = 100;

/** A task as events show it. */
export const inEvent = (task: TaskRecord): TaskRecord => ({
  ...task,
  collaborators: task.collaborators.map(({ _id, name }) => ({ _id, name: cutText(name, nameMax) })),
});

/** What differs between two states of a task. */
export const findTaskChanges = (before: TaskRecord, after: TaskRecord) =>
  findChanges(changing, withIds(before), withIds(after));

const withIds = ({ collaborators, ...task }: TaskRecord) => ({
  ...task,
  collaboratorIds: collaborators.map((one) => one._id).toSorted((a, b) => a - b),
});

/** Records that a task was added, for the subscribers of its project. */
export function recordTaskCreated(
  db: Db,
  { companyId, employeeId: actorId }: Member,
  task: TaskRecord,
  at: Date,
): void {
  const streams = [changeStream.project(task.projectId)];
  recordChange(db, taskCreated, {
    companyId,
    streams,
    payload: { actorId, taskId: task._id, task: inEvent(task) },
    at,
  });
}

/** Records what has changed between two states of a task. One that moves is told of in both projects. */
export function recordTaskUpdate(
  db: Db,
  { companyId, employeeId: actorId }: Member,
  { before, after, at }: { before: TaskRecord; after: TaskRecord; at: Date },
): void {
  const changes = findTaskChanges(before, after);
  if (!changes) return;
  const streams = [...new Set([before.projectId, after.projectId])].map(changeStream.project);
  const payload = { actorId, taskId: after._id, task: inEvent(after), changes };
  recordChange(db, taskUpdated, { companyId, streams, payload, at });
}
