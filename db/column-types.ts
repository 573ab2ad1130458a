import pg from 'pg';

/** By the type's number in PostgreSQL. */
const parsers = new Map<number, (text: string) => unknown>([
  [20, toSafeInteger], // bigint
  [1016, toIntegers], // bigint[]
  [1082, (text) => text], // date
  [1700, Number], // numeric
]);

/**
 * How columns arrive in the program: identifiers and amounts as numbers, dates as `YYYY-MM-DD`,
 * moments as Date. pg's own defaults make strings of the first and local midnights of the second.
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
