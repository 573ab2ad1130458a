import { z } from 'zod';
import type { Table } from '../../../db/catalogue.ts';
import { emailAddress } from '../../platform/email-address.ts';
import { name } from '../../kernel/wire/fields.ts';
import { timezone } from '../company/schemas.ts';
import { sanitizeRichText } from '../comments/sanitize.ts';
import { runsAtMostMs } from '../timers/close-timer.ts';
import { BadArchive, type Row } from './read-archive.ts';

/*
 * A file may have been made by anybody, so what the database does not check is checked here as the operations check it: names and
 * addresses that get into mails, markup that browsers show, pictures, and times on whose length totals rely.
 */

const anyName = name({ min: 0, max: 200 });
const moment = z.iso.datetime({ offset: true });

const checks: Partial<Record<Table, z.ZodType<Row>>> = {
  companies: z.looseObject({ name: name({ max: 200 }), timezone }),
  employees: z.looseObject({
    email: emailAddress,
    first_name: anyName,
    last_name: anyName,
    own_name: anyName.nullable(),
  }),
  pictures: z.looseObject({
    content_type: z.literal('image/webp'),
    content: z.base64().refine((text) => Buffer.from(text.slice(0, 16), 'base64').subarray(8).toString() === 'WEBP'),
  }),
  task_logs: z
    .looseObject({ start_time: moment, end_time: moment })
    .refine(({ start_time: start, end_time: end }) => Date.parse(end) - Date.parse(start) <= runsAtMostMs, {
      path: ['end_time'],
      message: 'must be at most 24 hours after the start',
    }),
  comments: z.looseObject({ image: z.url({ protocol: /^https$/ }).nullable() }),
  notifications: z.looseObject({
    link: z
      .string()
      .regex(/^(\/|$)/, 'must be a path')
      .nullable(),
  }),
};

/** The longest text of any operation is shorter. An erasure may have replaced each name in a message by a longer one. */
const textMax = 100_000;
const messageMax = 1_000_000;

/** The row as it may be stored; throws {@link BadArchive}. */
export function checkedRow(table: Table, row: Row, where: string): Row {
  const refuse = (path: PropertyKey[], message: string): never => {
    throw new BadArchive(`${where}: ${path.join('.')} ${message}.`);
  };
  for (const [column, value] of Object.entries(row))
    if (
      typeof value === 'string' &&
      column !== 'content' &&
      value.length > (column === 'message' ? messageMax : textMax)
    )
      refuse([column], 'is too long');
  const { error } = checks[table]?.safeParse(row) ?? {};
  if (error) refuse(error.issues[0]!.path, error.issues[0]!.message);
  if (table !== 'comments' || typeof row['message'] !== 'string') return row;
  return { ...row, message: sanitizeRichText(row['message']) };
}
