import { z } from 'zod';
import { id, moment, text } from '../../kernel/wire.ts';

/** Time that an employee spent on a task. */
export const TaskLog = z
  .object({
    _id: id,
    taskId: id,
    userId: id.meta({ description: 'The employee whose time it is' }),
    projectId: id,
    startTime: moment,
    endTime: moment,
    durationSeconds: z.int().meta({ description: 'From start to end, rounded to the second' }),
    description: z.string().nullable(),
    manualAdd: z.boolean().meta({ description: 'Entered or changed by hand, not taken by a timer' }),
    createdAt: moment,
    updatedAt: moment,
  })
  .meta({ id: 'TaskLog' });

/** What was done; null for nothing to say. */
export const logDescription = text({ min: 0, max: 10_000 }).nullish();
