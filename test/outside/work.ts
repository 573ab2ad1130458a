import { got, type Answer, type Caller } from './caller.ts';
import type { Person } from './people.ts';

type Fields = Record<string, unknown>;

export const addProject = async (caller: Caller, fields: Fields = {}): Promise<Answer['body']> =>
  got(await caller.post('/api/projects/', { name: 'Difference Engine', ...fields }));

/** A task, in a project of its own where none is named. */
export async function addTask(caller: Caller, fields: Fields = {}): Promise<Answer['body']> {
  const projectId = fields['projectId'] ?? (await addProject(caller))._id;
  return got(await caller.post('/api/tasks/', { title: 'Cut the gears', ...fields, projectId }));
}

export const addComment = async (author: Person, taskId: number, fields: Fields = {}): Promise<Answer['body']> =>
  got(await author.post('/api/task-chats/', { taskId, sender: author._id, message: 'Done', ...fields }));

/** An hour on a Monday of March 2026, from the given hour of UTC. */
export const addLog = async (person: Person, taskId: number, hour = 8, fields: Fields = {}): Promise<Answer['body']> =>
  got(await person.post('/tasklog/create/', { task_id: taskId, employee_id: person._id, ...hourAt(hour), ...fields }));

export const hourAt = (hour: number) => ({
  start_time: `2026-03-02T${String(hour).padStart(2, '0')}:00:00Z`,
  end_time: `2026-03-02T${String(hour + 1).padStart(2, '0')}:00:00Z`,
});

export const entryAt = (taskId: number, userId: number, hour: number) => ({
  taskId,
  userId,
  startTime: hourAt(hour).start_time,
  endTime: hourAt(hour).end_time,
  description: 'Gears',
  manualAdd: true,
});

/** The fields of a record, in no order. */
export const fieldsOf = (record: object): string[] => Object.keys(record).toSorted();

export const fields = (list: string): string[] => list.split(', ').toSorted();
