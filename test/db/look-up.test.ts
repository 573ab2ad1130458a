import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { lookUp } from '../../db/look-up.ts';
import { openClone } from '../support/database.ts';

const database = await openClone();
afterAll(() => database.close());

type Person = { company_id: number; person_id: number; together: number };

/** Two companies have a person 10; `together` is how many were read by one statement. */
const findPerson = lookUp<Person>('person_id', (db, isAsked) =>
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

describe('what is looked up at once', () => {
  test('is one statement for all who read, and everybody gets the row of their own company', async () => {
    const people = await Promise.all(asked.map(([companyId, id]) => findPerson(database.reads, companyId, id)));
    // The embedded database has one connection, on which nothing waits for anything else.
    expect(people).toEqual(found(database.kind === 'server' ? 3 : 1));
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
