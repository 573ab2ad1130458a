import { z } from 'zod';
import { issueCodes, rule, type IssueCode } from '../../errors/issues.ts';
import { id, idOf } from '../../kernel/wire/fields.ts';
import { timezone } from '../company/schemas.ts';
import { taskStatus } from '../tasks/schemas.ts';
import { dateOrders } from './local-time.ts';

export const sources = ['toggl', 'clockify', 'jira', 'trello'] as const;
export type Source = (typeof sources)[number];

/** The largest body: a file of 20,000 rows of 400 bytes. */
export const bodyBytesMax = 8 * 1024 * 1024;
export const errorsShown = 100;
const namesMax = 1_000;

const dateOrder = z.enum(dateOrders);

const named = <Value extends z.ZodType>(value: Value) =>
  z
    .record(z.string().min(1).max(320), value)
    .refine((names) => Object.keys(names).length <= namesMax, rule('too_big', `must have at most ${namesMax} names`))
    .default({});

export const ImportInput = z.object({
  source: z.enum(sources).meta({ description: 'What has exported the file' }),
  csv: z
    .string()
    .min(1, 'must not be empty')
    .meta({
      description: 'The text of the file, as it was exported',
      contentMediaType: 'text/csv',
      examples: ['Card ID,Card Name\r\n'],
    }),
  time_zone: timezone.meta({
    description: 'The IANA time zone of the times in the file: that of the person who has exported it',
  }),
  date_order: dateOrder.meta({
    description: 'The order of day, month and year in the dates of the file; a date that contradicts it is an error',
  }),
  people: named(id).meta({
    description:
      'Employees by what the file calls them, where that is neither their address nor their name; at most 1,000',
    examples: [{ 'Jane D': 42 }],
  }),
  projects: named(id).meta({
    description:
      'Projects by the names that they have in the file, where they are called otherwise or several have the name; at most 1,000',
    examples: [{ 'Website (Acme)': 7 }],
  }),
  statuses: named(taskStatus).meta({
    description:
      'The status that a status of Jira or a list of Trello stands for, beside the usual ones; at most 1,000',
    examples: [{ 'Ready to ship': 'in_review' }],
  }),
  skip_errors: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether to leave out rows with errors and import the others' }),
  dry_run: z.boolean().meta({ description: 'Whether to say only what would be done' }),
});

const count = (description: string) => z.int().nonnegative().meta({ description });

export const ImportReport = z
  .object({
    dry_run: z.boolean().meta({ description: 'Whether nothing was changed' }),
    rows: count('Rows of the file that have something in them'),
    created: z.object({
      projects: count('New projects'),
      tasks: count('New tasks'),
      logs: count('New task logs'),
    }),
    skipped: z.object({
      imported: count('Rows that were imported before'),
      withoutTime: count('Rows whose time is zero'),
      withErrors: count('Rows with errors'),
    }),
    projects: z
      .array(
        z.object({
          _id: idOf('project').nullable().meta({ description: 'null for one that a dry run would create' }),
          name: z.string(),
          isNew: z.boolean().meta({ description: 'Whether the import creates it' }),
          tasks: count('New tasks in it'),
          logs: count('New logs in it'),
        }),
      )
      .meta({ description: 'Where something is created, by name' }),
    errorCount: count('Errors in all'),
    errors: z
      .array(
        z.object({
          line: z.int().meta({ description: 'The line of the file on which the row begins' }),
          column: z.string().nullable().meta({ description: 'As the file names it; null for the row as a whole' }),
          message: z.string().meta({ description: 'Continues a sentence that begins with the column' }),
          code: z
            .enum(Object.keys(issueCodes) as [IssueCode, ...IssueCode[]])
            .meta({ description: 'As in the issues of an error' }),
        }),
      )
      .meta({ description: `The first ${errorsShown}, by line` }),
    fittingDateOrders: z.array(dateOrder).meta({
      description: 'Where several dates contradict `date_order`: the orders that all dates of the file fit',
    }),
  })
  .meta({ id: 'CsvImportReport' });
