import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';

export const periodLengths = ['week', 'month'] as const;
/** In the order of their numbers in ISO 8601, from 1. */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export const approvers = ['teamLeader', 'admin'] as const;

/** Ten years: what is older than that is locked by any number. */
const daysMax = 3_660;
const minutesOfDay = 24 * 60;
const minutesMeaning = 'Minutes of work that are expected on each day, from Monday to Sunday';
const minutesExamples = [[480, 480, 480, 480, 480, 0, 0]];

/** Minutes of work on each day of the week, in requests. */
export const weekOfMinutes = z
  .array(z.int().min(0).max(minutesOfDay))
  .length(7, 'must have 7 numbers, from Monday to Sunday')
  .meta({ description: minutesMeaning, examples: minutesExamples });

/** The same in answers. */
export const WeekOfMinutes = z.array(z.int()).meta({ description: minutesMeaning, examples: minutesExamples });

export const policyFields = {
  period: z.enum(periodLengths).meta({ description: 'What employees hand in at a time' }),
  weekStart: z.enum(weekdays).meta({ description: 'The first day of a week; without effect on months' }),
  lockAfterDays: z
    .int()
    .min(0)
    .max(daysMax)
    .nullable()
    .meta({
      description:
        'How many days after its last one a period may be changed, handed in or not; null for ever. With 0 it is locked from the next day on',
      examples: [30],
    }),
  graceDays: z
    .int()
    .min(0)
    .max(daysMax)
    .meta({ description: 'Days more until that lock; without effect where `lockAfterDays` is null', examples: [3] }),
  approver: z.enum(approvers).meta({ description: 'Who decides on periods: team leaders and admins, or admins alone' }),
  requireApproval: z
    .boolean()
    .meta({ description: 'Whether somebody decides on a period; without it, handing in approves', examples: [true] }),
  expectedMinutes: weekOfMinutes,
};

export const TimePolicy = z
  .object({
    company_id: idOf('company'),
    ...policyFields,
    expectedMinutes: WeekOfMinutes,
    lockedBefore: z
      .string()
      .nullable()
      .meta({
        description: 'All days before this one are locked by their age now; null where none are',
        format: 'date',
        examples: ['2026-03-02'],
      }),
  })
  .meta({ id: 'TimePolicy' });
