import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';

/** A period that an employee spent on a task. */
export const TaskLog = z
  .object({
    _id: idOf('taskLog'),
    taskId: idOf('task'),
    userId: idOf('employee').meta({ description: 'The employee whose time it is' }),
    projectId: idOf('project'),
    startTime: moment,
    endTime: moment,
    durationSeconds: z.int().meta({ description: 'From start to end, rounded to the second' }),
    description: z.string().nullable(),
    manualAdd: z.boolean().meta({ description: 'Entered or changed by hand, not taken by a timer' }),
    createdAt: moment,
    updatedAt: moment,
  })
  .meta({ id: 'TaskLog' });
