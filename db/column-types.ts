import pg from 'pg';

/** By the type's number in PostgreSQL. */
const parsers = new Map<number, (text: string) => unknown>([
  [20, toSafeInteger], // bigint
  [1016, toIntegers], // bigint[]
  [1082, (text) => text], // date
  [1184, toMoment], // timestamp with time zone
  [1700, Number], // numeric
]);

/**
 * How columns arrive in the program: identifiers and amounts as numbers, dates as `YYYY-MM-DD`, moments as Date. pg's
 * defaults would return bigint as a string and a date as local midnight.
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid: Parameters<typeof pg.types.getTypeParser>[0], format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : parsers.get(oid)) ?? pg.types.getTypeParser(oid, format),
};

function toSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is larger than 2^53-1`);
  return value;
}

function toIntegers(text: string): number[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(toSafeInteger);
}

const readMoment = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);
const zero = 48; // the character '0'

/**
 * Parses a moment as PostgreSQL writes it on our connections, in UTC: `2026-03-02 09:00:00.123456+00`. Digits below a
 * millisecond are cut off. pg's own parser takes four times as long (0.4 µs); it still parses the other forms, such as
 * years before 1000 and infinity.
 */
export function toMoment(text: string): Date {
  const { length } = text;
  if (length < 22 || length > 29 || text[0] === '0' || text[4] !== '-' || !text.endsWith('+00'))
    return readMoment(text) as Date;
  const digit = (index: number): number => text.charCodeAt(index) - zero;
  const two = (index: number): number => digit(index) * 10 + digit(index + 1);
  let milliseconds = 0;
  for (let index = 20, worth = 100; index < length - 3 && worth >= 1; index += 1, worth /= 10)
    milliseconds += digit(index) * worth;
  return new Date(Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), two(14), two(17), milliseconds));
}

/** The types that `schema.ts` names for those columns. */
export const typeNames: Record<string, string> = {
  bigint: 'number',
  integer: 'number',
  smallint: 'number',
  numeric: 'number',
  boolean: 'boolean',
  text: 'string',
  uuid: 'string',
  date: 'string',
  'time without time zone': 'string',
  'timestamp with time zone': 'Date',
  jsonb: 'Json',
  bytea: 'Buffer',
  'text[]': 'string[]',
  'integer[]': 'number[]',
};
