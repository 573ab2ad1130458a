import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { createLoader, rowLoader } from '../../db/pipeline/loader.ts';
import { openClone } from '../support/database.ts';

const database = await openClone();
afterAll(() => database.close());

type Person = { company_id: number; person_id: number; together: number };

/** Two companies have a person 10; `together` is how many were read by one statement. */
const findPerson = rowLoader<Person>('person_id', (db, isAsked) =>
  sql<Person>`
    select company_id::bigint, person_id::bigint, count(*) over () as together
    from (values (1, 10), (1, 11), (2, 10)) as people (company_id, person_id) where ${isAsked}`.compile(db),
);
const asked = [
  [1, 10],
  [2, 10],
  [1, 10],
  [2, 11],
  [1, 11],
  [3, 10],
] as const;
const found = (together: number) => [
  { company_id: 1, person_id: 10, together },
  { company_id: 2, person_id: 10, together },
  { company_id: 1, person_id: 10, together },
  undefined,
  { company_id: 1, person_id: 11, together },
  undefined,
];

const itself = <Key>(key: Key): Key => key;

test('what is asked for in one tick is loaded once, each thing once, and everybody gets their own', async () => {
  const loads: number[][] = [];
  const find = createLoader(itself, async (keys: number[]) => {
    loads.push(keys);
    return new Map(keys.filter((key) => key !== 3).map((key) => [key, `value ${key}`]));
  });
  expect(await Promise.all([find(1), find(2), find(1), find(3)])).toEqual(['value 1', 'value 2', 'value 1', undefined]);
  expect(await find(1)).toBe('value 1');
  expect(loads).toEqual([[1, 2, 3], [1]]);
});

test('a request during a load gets the state after that request', async () => {
  let truth = 'before';
  let finish = () => {};
  let isFirst = true;
  const find = createLoader(itself, async (keys: string[]) => {
    const found = new Map(keys.map((key) => [key, truth]));
    if (!isFirst) return found;
    isFirst = false;
    await new Promise<void>((resolve) => (finish = resolve));
    return found;
  });
  const first = find('session');
  await new Promise((resolve) => setImmediate(resolve));
  truth = 'after';
  const second = find('session');
  expect(await second).toBe('after');
  finish();
  expect(await first).toBe('before');
});

test('a load that fails fails for those who asked, and for nobody later', async () => {
  let isBroken = true;
  const find = createLoader(itself, async (keys: number[]) => {
    if (isBroken) throw new Error('no database');
    return new Map(keys.map((key) => [key, key]));
  });
  const outcomes = await Promise.allSettled([find(1), find(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isBroken = false;
  expect(await find(1)).toBe(1);
});

describe('rows that are looked up at once', () => {
  test('is one statement for all who read, and everybody gets the row of their own company', async () => {
    const people = await Promise.all(asked.map(([companyId, id]) => findPerson(database.reads, companyId, id)));
    expect(people).toEqual(found(3));
  });

  test('is a statement for each within a transaction', async () => {
    const { db, rollback } = database.begin();
    try {
      expect(await Promise.all(asked.map(([companyId, id]) => findPerson(db, companyId, id)))).toEqual(found(1));
    } finally {
      await rollback();
    }
  });
});
