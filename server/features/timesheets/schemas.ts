import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { Money } from '../../kernel/wire/money.ts';

export const groupings = ['day', 'week', 'project', 'task', 'employee'] as const;
export type Grouping = (typeof groupings)[number];

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const person = { userId: idOf('employee'), name: z.string() };
const project = { projectId: idOf('project'), project: z.string().meta({ description: 'Name of the project' }) };
const time = {
  seconds: z.int(),
  hours: z.number().meta({ description: 'The same in hours to two decimals; add up the seconds, not these' }),
  amounts: z.array(Money).optional().meta({ description: 'What it amounts to, with `amounts=true`' }),
};
const onWeekday = z.int().nullable().meta({ description: 'Seconds on that day; null for a day outside the range' });

/** The rows by grouping; the order of their fields is the order of the columns of a file. */
export const rowSchemas = {
  day: z.object({ ...person, date: day, ...time }),
  week: z.object({
    ...person,
    week: z.string().meta({ description: 'ISO week', examples: ['2026-W10'] }),
    monday: day,
    ...(Object.fromEntries(weekdays.map((weekday) => [weekday, onWeekday])) as Record<
      (typeof weekdays)[number],
      typeof onWeekday
    >),
    ...time,
  }),
  project: z.object({ ...project, ...time }),
  task: z.object({
    taskId: idOf('task'),
    task: z.string().meta({ description: 'Title of the task' }),
    ...project,
    ...time,
  }),
  employee: z.object({ ...person, ...time }),
};

export type Row = { [Key in Grouping]: z.infer<(typeof rowSchemas)[Key]> }[Grouping];

const grouped = <Key extends Grouping>(groupBy: Key) =>
  z.object({
    from: day,
    to: day,
    groupBy: z.literal(groupBy),
    rows: z.array(rowSchemas[groupBy]),
    totalSeconds: z.int().meta({ description: 'Sum of all rows' }),
    totalAmounts: z.array(Money).optional().meta({ description: 'Sums of all rows, with `amounts=true`' }),
  });

export const Timesheet = z
  .discriminatedUnion('groupBy', [
    grouped('day'),
    grouped('week'),
    grouped('project'),
    grouped('task'),
    grouped('employee'),
  ])
  .meta({ id: 'Timesheet' });
