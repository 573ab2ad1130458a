import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { openClone } from '../support/database.ts';
import { refuseUnscoped, UnscopedStatement } from '../support/tenancy-guard.ts';

const database = await openClone();
afterAll(() => database.close());
const { db } = database;

describe('the tenancy guard refuses', () => {
  test.each([
    'select * from tasks where task_id = 1',
    'select company_id from tasks where task_id = 1',
    'update tasks set title = $1 where task_id = $2',
    'delete from comments where comment_id = $1',
    'delete from comments where comment_id = $1 returning company_id',
    'insert into timers (employee_id) values ($1)',
    'select * from tasks as t join projects as p on p.project_id = t.project_id where t.company_id = $1',
    'select "t"."title" from "tasks" as "t" where "t"."task_id" = $1',
    'with x as (select title from tasks where task_id = $1) select * from x',
  ])('%s', (statement) => {
    expect(() => refuseUnscoped(statement)).toThrow(UnscopedStatement);
  });

  test('what Kysely builds, before it runs', async () => {
    await expect(
      db.updateTable('employees').set({ is_admin: true }).where('employee_id', '=', 1).execute(),
    ).rejects.toThrow('employees is touched without its company_id');
    await expect(sql`delete from notifications where notification_id = ${1}`.execute(db)).rejects.toThrow(
      UnscopedStatement,
    );
  });
});

describe('the tenancy guard passes', () => {
  test.each([
    'select * from tasks where company_id = $1 and task_id = $2',
    'select * from tasks as t join projects as p on p.company_id = t.company_id and p.project_id = t.project_id where t.company_id = $1',
    'insert into companies (name) values ($1) returning company_id',
    'select * from accounts where email = $1',
    'delete from sessions where session_id = $1',
  ])('%s', (statement) => {
    expect(() => refuseUnscoped(statement)).not.toThrow();
  });

  test('what Kysely builds for one company', async () => {
    expect(await db.selectFrom('tasks').where('company_id', '=', 1).select('title').execute()).toEqual([]);
  });
});
