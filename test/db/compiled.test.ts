import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { compiled } from '../../db/pipeline/compiled.ts';
import { openClone } from '../support/database.ts';

const database = await openClone();
afterAll(() => database.close());

test('a compiled statement is built once and runs with the values of each call', async () => {
  let built = 0;
  const double = compiled<{ value: number; words: string[] }, { doubled: number; word: string }>((db, placeholder) => {
    built += 1;
    return sql<{ doubled: number; word: string }>`
      select 2 * ${placeholder('value')}::integer as doubled, ${placeholder('words')}::text[] as words, ${'kept'} as fixed`.compile(
      db,
    );
  });
  const answers = await Promise.all([1, 2, 3].map((value) => double(database.db, { value, words: [`word ${value}`] })));
  expect(answers.flat()).toEqual(
    [1, 2, 3].map((value) => ({ doubled: 2 * value, words: [`word ${value}`], fixed: 'kept' })),
  );
  expect(built).toBe(1);
});
