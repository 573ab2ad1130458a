import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { isRetryable, toApiError, validationFailed } from '../../server/errors/errors.ts';
import type { Issue } from '../../server/errors/issues.ts';
import { openClone } from '../support/database.ts';

const database = await openClone();
afterAll(() => database.close());

const thrownBy = async (statement: string): Promise<unknown> =>
  sql
    .raw(statement)
    .execute(database.db)
    .catch((error: unknown) => error);

const raise = (state: string) => `do $$ begin raise exception 'made by a test' using errcode = '${state}'; end $$`;

test.each(['40001', '40P01'])('a transaction that lost (%s) may be run again', async (state) => {
  expect(isRetryable(await thrownBy(raise(state)))).toBe(true);
});

test('a constraint that was broken is no reason to run again', async () => {
  expect(isRetryable(await thrownBy(raise('23505')))).toBe(false);
});

test.each([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '08000',
  '08003',
  '08006',
  '28000',
  '28P01',
  '3D000',
  '25006',
  '40001',
  '57014',
  '55P03',
])(
  'a database that is away, closed to this user, full, read-only or lost to another transaction (%s) is a 503',
  async (state) => {
    expect(toApiError(await thrownBy(raise(state))).definition.code).toBe('SERVICE_UNAVAILABLE');
  },
);

test.each(['ECONNREFUSED', 'EPIPE', 'ETIMEDOUT'])('a connection that broke (%s) is a 503', (code) => {
  expect(toApiError(Object.assign(new Error('made by a test'), { code })).definition.code).toBe('SERVICE_UNAVAILABLE');
});

test('anything else is a 500 that tells nothing of itself', async () => {
  const error = toApiError(await thrownBy("select 'the secret'::integer"));
  expect(error.definition.code).toBe('INTERNAL_ERROR');
  expect(error.message).not.toContain('secret');
});

test('an issue with the input as a whole makes a whole sentence', () => {
  const issue: Issue = { path: [], message: 'must be of type object', code: 'invalid_type' };
  expect(validationFailed([{ ...issue, path: [2, 'userId'] }]).message).toBe('2.userId must be of type object.');
  expect(validationFailed([issue]).message).toBe('The input must be of type object.');
});
