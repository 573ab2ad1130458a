import { z } from 'zod';
import { toIso } from './iso.ts';
import { requiredMessage, rule } from './issues.ts';

/**
 * What values look like outside, in requests and answers. The schemas are strict: a number is a number.
 * Turning a path or a query string into one is the REST door's job.
 */

/** What a schema says of a value that is not there. */
const missing = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

z.config({
  customError: (issue) => {
    if (issue.input === undefined && missing.has(issue.code)) return requiredMessage;
    if (issue.code === 'invalid_type' && issue.expected === 'boolean') return 'must be one of true, false';
    if (issue.code === 'invalid_type')
      return `must be ${issue.expected === 'int' ? 'a whole number' : `of type ${issue.expected}`}`;
    if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
    if (issue.code === 'too_small' && issue.origin !== 'string') return `must be at least ${String(issue.minimum)}`;
    if (issue.code === 'too_big' && issue.origin !== 'string') return `must be at most ${String(issue.maximum)}`;
    return undefined;
  },
});

/** Names a thing: a positive integer, at most 2^53-1. */
export const id = z
  .int()
  .positive()
  .meta({ description: 'Identifier', examples: [42] });

/** Text that PostgreSQL can store: no NUL, no half characters. Counted in UTF-16 units, trimmed of outer white space. */
export function text(limits: { min?: number; max: number }) {
  const { min = 1, max } = limits;
  return z
    .string()
    .trim()
    .min(min, min === 1 ? 'must not be empty' : `must have at least ${min} characters`)
    .max(max, `must have at most ${max} characters`)
    .refine(
      (value) => value.isWellFormed() && !value.includes('\0'),
      rule('invalid_format', 'must be well-formed text without NUL characters'),
    );
}

/** Where a mail program sees a link: a scheme, `www.`, or a domain with a path. "St. John's" and "A/B Tests" are none. */
const webAddress = /\/\/|https?:|(?<![\p{L}\p{N}])www\.|[\p{L}\p{N}-]\.\p{L}{2,}\//iu;

/** Characters that have no width and no business in a name: controls, line ends, and what turns the direction of others. */
const hiddenCharacters = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/** What a person, company or key is called. It stands in mails to others, so it holds no web address. */
export function name(limits: { min?: number; max: number }) {
  return text(limits)
    .refine((value) => !hiddenCharacters.test(value), rule('invalid_format', 'must not contain control characters'))
    .refine(
      // The dots and slashes of other scripts are resolved as these are.
      (value) => !webAddress.test(value.normalize('NFKC').replaceAll('。', '.')),
      rule('invalid_format', 'must not contain a web address'),
    );
}

/** An address, without regard to case: it is kept in lower case. */
export const email = z
  .string()
  .trim()
  .max(254)
  .toLowerCase()
  .pipe(z.email('must be an e-mail address'))
  .meta({
    description: 'E-mail address, compared without regard to case',
    format: 'email',
    examples: ['ada@example.com'],
  });

const timestampForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)$/i;
/** The years that answers can show. */
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

/** A second 60 ends a day of UTC and nothing else. Date, as PostgreSQL, counts it as the first one of the next day. */
function parseLeapSecond(canonical: string): Date {
  const next = new Date(Date.parse(canonical.replace(':60', ':59')) + 1000);
  const isMidnight = next.getUTCHours() + next.getUTCMinutes() + next.getUTCSeconds() === 0;
  return isMidnight ? next : new Date(Number.NaN);
}

const lengthsOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Of what has the form of a day. Counted, for a Date that is made and written takes longer than all else of an answer's day. */
function isCalendarDay(value: string): boolean {
  const year = Number(value.slice(0, 4));
  const month = Number(value.slice(5, 7));
  const day = Number(value.slice(8, 10));
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const length = month === 2 && isLeapYear ? 29 : (lengthsOfMonths[month - 1] ?? 0);
  return year > 0 && day > 0 && day <= length;
}

/** A moment as callers send it: RFC 3339 with any offset, `t` and `z` in either case. */
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

/** A moment as answers carry it: UTC with milliseconds and `Z`. Takes what the database gives, also from inside JSON. */
export const moment = z
  .union([z.date(), z.string()])
  .transform((value) => toIso(value instanceof Date ? value : new Date(value)))
  .pipe(
    z
      .string()
      .meta({ format: 'date-time', description: 'UTC with milliseconds', examples: ['2026-03-01T09:00:00.000Z'] }),
  );

/** A day without a time: `YYYY-MM-DD`, and it must exist. */
export const day = z
  .string()
  .refine(
    (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && isCalendarDay(value),
    rule('invalid_format', 'must be an existing day as YYYY-MM-DD'),
  )
  .meta({ format: 'date', examples: ['2026-03-01'] });

export const page = z
  .int()
  .min(1)
  .default(1)
  .meta({ description: 'Page number, from 1; a page past the end is empty' });

/**
 * Hours or money: any finite number from 0 on, rounded half up to two decimals as they are stored. What counts is the
 * number as it is written, so 1.005 becomes 1.01 although its binary value lies below.
 */
export const decimal = ({ max }: { max: number }) =>
  z
    .number()
    .min(0)
    .transform(roundHalfUp)
    .pipe(z.number().max(max))
    .meta({ description: 'Rounded half up to two decimals', minimum: 0, maximum: max });

function roundHalfUp(value: number): number {
  const written = String(value);
  // Below a millionth, or above all that can be stored: numbers that are written with an exponent.
  if (written.includes('e')) return value < 1 ? 0 : value;
  const [whole, fraction = ''] = written.split('.');
  if (fraction.length <= 2) return value;
  return Number(BigInt(whole! + fraction.slice(0, 2)) + (fraction[2]! >= '5' ? 1n : 0n)) / 100;
}

/** Whether an update names none of the fields that it could change; `names` are those that say what to change. */
export function isEmptyUpdate(input: object, ...names: string[]): boolean {
  return Object.entries(input).every(([name, value]) => value === undefined || names.includes(name));
}

/** An answer that only says that it is done. */
export const done = z.object({ success: z.literal(true) });

/** One page of a list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    results: z.array(item),
    page: z.int(),
    pageSize: z.int(),
    total: z.int().meta({ description: 'How many there are on all pages' }),
    totalPages: z.int(),
  });
}
