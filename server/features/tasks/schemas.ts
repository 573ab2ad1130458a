import { z } from 'zod';
import { idOf, text } from '../../kernel/wire/fields.ts';
import { day, moment } from '../../kernel/wire/moments.ts';
import { hours } from '../projects/schemas.ts';

export const taskStatuses = ['todo', 'in_progress', 'in_review', 'done'] as const;
export const taskStatus = z.enum(taskStatuses);

export const Task = z
  .object({
    _id: idOf('task'),
    projectId: idOf('project'),
    title: z.string(),
    description: z.string().nullable(),
    status: taskStatus,
    owner_id: idOf('employee'),
    collaborators: z
      .array(z.object({ _id: idOf('employee'), name: z.string() }))
      .meta({ description: 'By name, as people sort' }),
    dueDate: day.nullable(),
    estimatedHours: z.number().nullable(),
    completedAt: moment.nullable().meta({ description: 'When its status became done; null while it is not' }),
    createdAt: moment,
    updatedAt: moment,
  })
  .meta({ id: 'Task' });

/** The fields of a task that callers set; each operation says which may be omitted. */
export const taskFields = {
  projectId: idOf('project').meta({ description: 'A project of the company' }),
  title: text({ max: 300 }),
  description: text({ min: 0, max: 20_000 }).nullable(),
  owner_id: idOf('employee').meta({ description: 'An active employee of the company' }),
  collaboratorIds: z
    .array(idOf('colleague'))
    .max(100, 'must name at most 100 people')
    .meta({ description: 'Active employees of the company; one who is named twice counts once' }),
  status: taskStatus,
  dueDate: day.nullable(),
  estimatedHours: hours.nullable(),
};
