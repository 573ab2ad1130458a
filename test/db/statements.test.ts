import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { paginate } from '../../db/pipeline/paginate.ts';
import { list } from '../../db/pipeline/list.ts';
import { openClone } from '../support/database.ts';

const database = await openClone({ connectionsMax: 1 });
afterAll(() => database.close());
const { db } = database;

/** The statements that the one connection has prepared under a name, by a part of their text. */
async function preparedLike(part: string): Promise<string[]> {
  const { rows } = await sql<{ statement: string }>`
    select statement from pg_prepared_statements where name <> '' and position(${part} in statement) > 0`.execute(db);
  return rows.map((row) => row.statement).filter((statement) => !statement.includes('pg_prepared_statements'));
}

async function read<Value>(expression: string): Promise<Value> {
  const { rows } = await sql<{ value: Value }>`select ${sql.raw(expression)} as value`.execute(db);
  return rows[0]!.value;
}

const template = inject('template');
/** Behind a pooler a session belongs to nobody, so nothing is prepared in it. */
const keepsSessions = template.kind === 'embedded' || template.poolerUrl === undefined;

describe.runIf(keepsSessions)('a statement with parameters', () => {
  test('is prepared once, however often it runs', async () => {
    for (const email of ['ada@example.com', 'grace@example.com'])
      await db.selectFrom('accounts').where('email', '=', email).select('account_id').execute();
    expect(await preparedLike('"account_id" from "accounts"')).toEqual([
      'select "account_id" from "accounts" where "email" = $1',
    ]);
  });

  test('takes lists of numbers, also without any, and of other things', async () => {
    const echo = async (given: unknown, type: string) => {
      const { rows } = await sql<{ value: string }>`select ${given}::${sql.raw(type)}::text as value`.execute(db);
      return rows[0]!.value;
    };
    expect(await echo([], 'bigint[]')).toBe('{}');
    expect(await echo([-1, 0, Number.MAX_SAFE_INTEGER], 'bigint[]')).toBe('{-1,0,9007199254740991}');
    expect(await echo([0.25, -1e21], 'float8[]')).toBe('{0.25,-1e+21}');
    expect(await echo([1, null], 'bigint[]')).toBe('{1,NULL}');
    expect(await echo(['1,2', '"'], 'text[]')).toBe(String.raw`{"1,2","\""}`);
    await expect(echo([1.5], 'bigint[]')).rejects.toThrow('invalid input syntax for type bigint: "1.5"');
  });

  test('has its columns described once, and answers the same ever after', async () => {
    // What pg does for a statement that is to be parsed or described.
    const preparing = vi.spyOn(pg.Query.prototype as unknown as { prepare(this: { text: string }): void }, 'prepare');
    onTestFinished(() => preparing.mockRestore());
    const answers = [];
    for (const [text, number] of [
      ['a', 1],
      ['b', null],
      ['', -7],
    ] as const) {
      const row = sql`select ${text}::text as text, ${number}::bigint as number, true as flag, to_timestamp(0) as at`;
      answers.push((await row.execute(db)).rows);
    }
    const at = new Date(0);
    expect(answers).toEqual([
      [{ text: 'a', number: 1, flag: true, at }],
      [{ text: 'b', number: null, flag: true, at }],
      [{ text: '', number: -7, flag: true, at }],
    ]);
    expect(preparing.mock.contexts.filter((query) => query.text.includes('to_timestamp(0)'))).toHaveLength(1);
  });

  test('can fail and run again', async () => {
    const divide = (by: number) => sql<{ q: number }>`select 6 / ${by}::integer as q`.execute(db);
    await expect(divide(0)).rejects.toThrow('division by zero');
    expect((await divide(2)).rows).toEqual([{ q: 3 }]);
  });
});

test('a statement without parameters is not kept', async () => {
  await sql`select 'no parameters'`.execute(db);
  expect(await preparedLike('no parameters')).toEqual([]);
});

describe.runIf(keepsSessions)('a plan is kept', () => {
  /** How often a statement ran with a plan made for these very values, of twenty times. */
  async function countPlansMade(part: string, run: () => Promise<unknown>): Promise<number> {
    for (let times = 0; times < 20; times += 1) await run();
    const { rows } = await sql<{ custom_plans: number }>`
      select custom_plans from pg_prepared_statements where position(${part} in statement) = 1`.execute(db);
    return rows[0]!.custom_plans;
  }

  test('for a list however long it is, and for a plain parameter it is not', async () => {
    const count = (ids: ReturnType<typeof list>) =>
      sql`select count(*) from unnest(${ids}) cross join generate_series(1, 1000)`.execute(db);
    expect(await countPlansMade('select count(*) from unnest((', () => count(list([1, 2, 3], 'bigint')))).toBe(5);
    expect(await countPlansMade('select count(*) from unnest($', () => count(sql`${[1, 2, 3]}::bigint[]`))).toBe(20);
  });

  test('for the first page of an unfiltered list, and for a filtered one it is not', async () => {
    const numbers = sql<{ n: number }>`(select n from generate_series(1, 100000) as n)`.as<'numbers'>(sql`numbers`);
    const many = (name: string) => db.selectFrom(numbers).where('n', '>', 0).select(`n as ${name}`);
    const first = () =>
      many('first')
        .$call(paginate({ size: 10, offset: 0, isUnfiltered: true }))
        .execute();
    expect(await countPlansMade('select "n" as "first"', first)).toBe(5);
    const filtered = () =>
      many('filtered')
        .$call(paginate({ size: 10, offset: 0, isUnfiltered: false }))
        .execute();
    expect(await countPlansMade('select "n" as "filtered"', filtered)).toBe(20);
  });
});

describe('a column arrives as', () => {
  test.each([
    ['9007199254740991::bigint', 9007199254740991],
    ['(-42)::bigint', -42],
    ['1234.50::numeric(10, 2)', 1234.5],
    ["'2026-03-29'::date", '2026-03-29'],
    ["'0044-03-15'::date", '0044-03-15'],
    ["'2026-03-29T02:30:00.123+02:00'::timestamptz", new Date('2026-03-29T00:30:00.123Z')],
    ["'{1,2,3}'::bigint[]", [1, 2, 3]],
    ["'{}'::bigint[]", []],
    ["'{}'::text[]", []],
    ['true', true],
    ['null::bigint', null],
    ["'09:00'::time", '09:00:00'],
    ["current_setting('TimeZone')", 'UTC'],
  ])('%s: %j', async (expression, value) => {
    expect(await read(expression)).toEqual(value);
  });

  test('no number that JavaScript would round', async () => {
    await expect(read('9007199254740992::bigint')).rejects.toThrow('larger than 2^53-1');
  });
});
