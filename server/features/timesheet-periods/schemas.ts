import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';

export const periodStates = ['open', 'submitted', 'approved', 'rejected'] as const;

const date = (description: string, example: string) =>
  z.string().meta({ description, format: 'date', examples: [example] });

/** A period of one employee, without its time: as events have it. */
export const PeriodHead = z
  .object({
    _id: idOf('period'),
    employee_id: idOf('employee').meta({ description: 'The employee whose time it is' }),
    name: z.string().meta({ description: 'Name of the employee', examples: ['Ada Lovelace'] }),
    firstDay: date('The first day', '2026-03-02'),
    lastDay: date('The last day', '2026-03-08'),
    status: z.enum(periodStates).meta({
      description:
        '`open` again after it was withdrawn or reopened; `submitted` and `approved` lock its days; `rejected` is to be corrected and handed in again',
      examples: ['submitted'],
    }),
    submittedBy: idOf('employee').meta({ description: 'Who handed it in last' }),
    submittedAt: moment.meta({ description: 'When it was handed in last' }),
    decidedBy: idOf('employee')
      .nullable()
      .meta({
        description: 'Who approved, rejected or reopened it; null where nobody did, or where no approval is required',
        examples: [null],
      }),
    decidedAt: moment.nullable().meta({ description: 'When that was; null where it was not', examples: [null] }),
    note: z
      .string()
      .nullable()
      .meta({ description: 'What was said with the decision, or why it was reopened', examples: [null] }),
    expectedMinutes: z
      .int()
      .meta({ description: 'The work that was expected on its days when it was handed in', examples: [2400] }),
    totalSeconds: z.int().meta({ description: 'The sum of its snapshot', examples: [144_000] }),
  })
  .meta({ id: 'TimesheetPeriodHead', description: 'A period of one employee, without its time' });

export const TimesheetPeriod = PeriodHead.extend({
  snapshot: z
    .array(
      z.object({
        date: date('The day', '2026-03-02'),
        projectId: idOf('project'),
        seconds: z.int().meta({ description: 'Logged on the project on that day', examples: [28_800] }),
      }),
    )
    .meta({ description: 'What was logged when it was handed in, or approved since, by day and project' }),
}).meta({ id: 'TimesheetPeriod' });
