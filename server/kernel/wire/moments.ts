import { z } from 'zod';
import { rule } from '../../errors/issues.ts';
import { toIso } from './iso.ts';

const timestampForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)$/i;
/** The range of years in answers. */
const momentMin = Date.parse('0001-01-01T00:00:00Z');
const momentMax = Date.parse('9999-12-31T23:59:59.999Z');

function parseTimestamp(value: string): Date | undefined {
  if (!timestampForm.test(value) || !isCalendarDay(value.slice(0, 10))) return undefined;
  const canonical = value
    .toUpperCase()
    .replace(/([+-]\d{2})(\d{2})$/, '$1:$2')
    .replace(/([+-]\d{2})$/, '$1:00');
  const hours = Number(value.slice(11, 13));
  const moment = value.slice(16, 19) === ':60' ? parseLeapSecond(canonical) : new Date(canonical);
  return hours < 24 && moment.getTime() >= momentMin && moment.getTime() <= momentMax ? moment : undefined;
}

/**
 * A second 60 is valid only at the end of a UTC day. Date, as PostgreSQL, counts it as the first second of the next
 * day.
 */
function parseLeapSecond(canonical: string): Date {
  const next = new Date(Date.parse(canonical.replace(':60', ':59')) + 1000);
  const isMidnight = next.getUTCHours() + next.getUTCMinutes() + next.getUTCSeconds() === 0;
  return isMidnight ? next : new Date(Number.NaN);
}

const lengthsOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Checks a day that has the right form. It computes, because creating and formatting a Date takes longer than
 * everything else about a day.
 */
export function isCalendarDay(value: string): boolean {
  const year = Number(value.slice(0, 4));
  const month = Number(value.slice(5, 7));
  const day = Number(value.slice(8, 10));
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const length = month === 2 && isLeapYear ? 29 : (lengthsOfMonths[month - 1] ?? 0);
  return year > 0 && day > 0 && day <= length;
}

/** A moment in a request: RFC 3339 with any offset, `t` and `z` in either case. */
export const timestamp = z
  .string()
  .transform((value, context) => {
    const moment = parseTimestamp(value);
    if (moment) return moment;
    context.addIssue({
      code: 'invalid_format',
      format: 'datetime',
      input: value,
      message: 'must be an ISO 8601 timestamp with an offset, such as 2026-03-01T09:00:00Z',
    });
    return z.NEVER;
  })
  .meta({ description: 'ISO 8601 with any offset', format: 'date-time', examples: ['2026-03-01T09:00:00Z'] });

/** A moment in an answer: UTC with milliseconds and `Z`. Accepts the database's forms, also from inside JSON. */
export const moment = z
  .union([z.date(), z.string()])
  .transform((value) => toIso(value instanceof Date ? value : new Date(value)))
  .pipe(
    z
      .string()
      .meta({ format: 'date-time', description: 'UTC with milliseconds', examples: ['2026-03-01T09:00:00.000Z'] }),
  );

/** A day without a time: `YYYY-MM-DD`, which must exist. */
export const day = z
  .string()
  .refine(
    (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && isCalendarDay(value),
    rule('invalid_format', 'must be an existing day as YYYY-MM-DD'),
  )
  .meta({ format: 'date', examples: ['2026-03-01'] });
