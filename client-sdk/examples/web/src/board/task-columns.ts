import type { Task, TaskCreated, TaskDeleted, TaskUpdated } from 'work-management-client';
import { statuses, type Status } from '../parts.tsx';

/* The columns of the board, as events change them. */

/** Which tasks the board shows. */
export type Filter = { projectId: number | null; mine: boolean };

/** The tasks of each status that are shown, the newest first, and how many there are. */
export type Columns = Record<Status, { tasks: Task[]; total: number }>;

type TaskEvent = TaskCreated | TaskUpdated | TaskDeleted;

export const matches = (task: Task, { projectId, mine }: Filter, myId: number): boolean =>
  (projectId === null || task.projectId === projectId) && (!mine || task.owner_id === myId);

/**
 * The columns after an event. `unknown` if it is about a task that is on a page which is not shown: then they are read
 * again. An event that the columns have already changes nothing.
 */
export function moveTask(columns: Columns, event: TaskEvent, belongs: (task: Task) => boolean): Columns | 'unknown' {
  const { task, taskId } = event;
  const shown = statuses.flatMap((status) => columns[status].tasks).find((one) => one._id === taskId);
  if (shown && shown.updatedAt > task.updatedAt) return columns;
  const isThere = event.type !== 'task.deleted' && belongs(task);
  if (!shown && event.type !== 'task.created' && belongs(before(event))) return 'unknown';
  const without = shown ? leave(columns, shown) : columns;
  return isThere ? enter(without, task) : without;
}

/** The task as it was before the event. */
function before({ task, ...event }: TaskUpdated | TaskDeleted): Task {
  if (!('changes' in event)) return task;
  const values = Object.entries(event.changes).map(([field, change]) => [field, change.before]);
  return { ...task, ...Object.fromEntries(values) } as Task;
}

function leave(columns: Columns, { _id, status }: Task): Columns {
  const { tasks, total } = columns[status];
  return { ...columns, [status]: { tasks: tasks.filter((one) => one._id !== _id), total: total - 1 } };
}

/** Adds a task in its place, unless that is on a page which is not shown. */
function enter(columns: Columns, task: Task): Columns {
  const { tasks, total } = columns[task.status];
  const isOnPage = tasks.length === total || tasks.some((one) => one._id < task._id);
  const next = isOnPage ? [...tasks, task].toSorted((a, b) => b._id - a._id) : tasks;
  return { ...columns, [task.status]: { tasks: next, total: total + 1 } };
}
