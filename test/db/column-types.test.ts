import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { toMoment } from '../../db/column-types.ts';
import { openClone } from '../support/database.ts';

const database = await openClone();
afterAll(() => database.close());

test('every moment arrives as it was sent, to the millisecond', async () => {
  const edges = [0, -1, 1, 999, 86_399_999, 86_400_000, -30_610_224_000_000, -30_610_224_000_001, 253_402_300_799_999];
  const years = 8_000 * 365.25 * 86_400_000;
  const moments = Array.from({ length: 2_000 }, () => Math.floor((Math.random() - 0.25) * years));
  const sent = [...edges, ...moments].map((ms) => new Date(ms));
  const { rows } = await sql<{ moment: Date }>`
    select moment from unnest(${sent}::timestamptz[]) with ordinality as sent (moment, place) order by place`.execute(
    database.db,
  );
  expect(rows.map((row) => row.moment.getTime())).toEqual(sent.map((moment) => moment.getTime()));
});

test.each([
  ['2026-03-02 09:00:00+00', '2026-03-02T09:00:00.000Z'],
  ['2026-03-02 09:00:00.5+00', '2026-03-02T09:00:00.500Z'],
  ['2026-03-02 09:00:00.285+00', '2026-03-02T09:00:00.285Z'],
  ['2026-03-02 09:00:00.123999+00', '2026-03-02T09:00:00.123Z'],
  ['2026-12-31 23:59:59.999999+00', '2026-12-31T23:59:59.999Z'],
  ['2026-03-02 14:30:00.25+05:30', '2026-03-02T09:00:00.250Z'],
  ['2026-03-01 23:00:00-10', '2026-03-02T09:00:00.000Z'],
  ['0044-03-15 12:00:00+00', '0044-03-15T12:00:00.000Z'],
  ['12026-03-02 09:00:00+00', '+012026-03-02T09:00:00.000Z'],
])('%s is read', (text, moment) => {
  expect(toMoment(text).toISOString()).toBe(moment);
});

test('what is no moment of the calendar is what pg makes of it', () => {
  expect(toMoment('infinity')).toBe(Infinity);
  expect(toMoment('0044-03-15 12:00:00+00 BC').getUTCFullYear()).toBe(-43);
});
