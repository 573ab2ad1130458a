import { expect, test } from 'vitest';
import { z } from '../../server/errors/zod-messages.ts';
import { lastEventId } from '../../server/kernel/streams.ts';
import { id } from '../../server/kernel/wire/fields.ts';
import { day, timestamp } from '../../server/kernel/wire/moments.ts';

const numbers = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');

/** As the calendar has it. `Date` takes years below 100 for others. */
function exists(year: number, month: number, date: number): boolean {
  const moment = new Date(0);
  moment.setUTCFullYear(year, month - 1, date);
  return year > 0 && moment.getUTCMonth() === month - 1 && moment.getUTCDate() === date;
}

test.each([0, 1, 4, 100, 400, 1900, 2000, 2024, 2026, 9999])(
  'the days of the year %i are those of the calendar',
  (year) => {
    for (const month of numbers(0, 13)) {
      for (const date of numbers(0, 32)) {
        const text = `${padded(year, 4)}-${padded(month, 2)}-${padded(date, 2)}`;
        expect([text, day.safeParse(text).success]).toEqual([text, exists(year, month, date)]);
        expect([text, timestamp.safeParse(`${text}T09:00:00Z`).success]).toEqual([text, exists(year, month, date)]);
      }
    }
  },
);

test.each(['', '2026-3-1', '2026-03-01 ', '20260301', '2026-03-01T00:00', '٢٠٢٦-٠٣-٠١'])('%j is no day', (text) => {
  expect(day.safeParse(text).success).toBe(false);
});

test.each([
  [id, 0, 'must be greater than 0'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.number().min(1), 0, 'must be at least 1'],
  [z.number().max(5), 6, 'must be at most 5'],
])('says whether a bound itself is allowed: %#', (schema, value, message) => {
  expect(schema.safeParse(value).error?.issues.map((issue) => issue.message)).toEqual([message]);
});

test.each([
  [z.array(id).min(1), [], 'must have at least 1 entry'],
  [z.array(id).min(2), [7], 'must have at least 2 entries'],
  [z.array(id).max(1), [7, 8], 'must have at most 1 entry'],
  [z.array(id).max(2), [7, 8, 9], 'must have at most 2 entries'],
])('speaks of the entries of a list: %#', (schema, value, message) => {
  expect(schema.safeParse(value).error?.issues.map((issue) => issue.message)).toEqual([message]);
});

test.each([
  [7, 'must be of type string'],
  ['x', 'must be the id of an event, or now'],
])('says why %j is not where a stream goes on', (value, message) => {
  expect(lastEventId.safeParse(value).error?.issues.map((issue) => issue.message)).toEqual([message]);
});
