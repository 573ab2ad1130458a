import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { Money } from '../../kernel/wire/money.ts';

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
    billable: z.boolean().meta({ description: 'Whether it is charged; a new log takes this from its project' }),
    createdAt: moment,
    updatedAt: moment,
  })
  .meta({ id: 'TaskLog' });

/** A task log as admins see it, with what it is charged at. Events have none of it. */
export const ChargedTaskLog = TaskLog.extend({
  charge: z
    .object({
      hourlyRate: Money.meta({ description: 'The rate that was stored with the log' }),
      amount: Money.meta({ description: 'The seconds of the log by its rate, rounded once, half up' }),
    })
    .nullable()
    .meta({ description: 'For admins; null for others, without a rate, and where the log is not billable' }),
}).meta({ id: 'ChargedTaskLog' });
