import pg from 'pg';

const int8 = 20;
const date = 1082;
const numeric = 1700;
const int8Array = 1016;

/**
 * How columns arrive in the program: identifiers and amounts as numbers, dates as `YYYY-MM-DD`,
 * moments as Date. pg's own defaults make strings of the first and local midnights of the second.
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format !== 'binary') {
      if (oid === int8) return toSafeInteger;
      if (oid === numeric) return Number;
      if (oid === date) return (text: string) => text;
      if (oid === int8Array) return (text: string) => toIntegers(text);
    }
    return pg.types.getTypeParser(oid, format as 'text');
  },
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
