import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../db/open.ts';
import { recomputeCommentCounts } from '../../db/derived/comment-counts.ts';
import { recomputeNotificationCounts } from '../../db/derived/notification-counts.ts';
import { recomputeCompanyCounts, recomputeTaskCounts } from '../../db/derived/task-counts.ts';
import { recomputeWorkDays } from '../../db/derived/work-time.ts';
import { insertEmployee } from '../../server/features/employees/queries.ts';
import { setUpCompany } from '../../server/features/registration/set-up-company.ts';
import { createPasswords } from '../../server/platform/passwords.ts';
import { commentsPerTask, seedComments, commenters } from './seed-comments.ts';
import type { Range, SignedIn, World } from './world.ts';

/** How much there is of everything. */
export type Sizes = {
  employees: number;
  projects: number;
  tasks: number;
  /** In all; each task that is talked on has fifty. */
  comments: number;
  /** Of one person. */
  notifications: number;
  /** In all; each task that is logged on has a hundred. */
  logs: number;
};

type Report = (what: string) => void;

const logsPerTask = 100;
const callersCount = 64;
const password = 'correct horse battery staple';

/** Makes a company in a migrated database: what the service would have made of so much work. */
export async function seed(database: Database, client: pg.Client, sizes: Sizes, report: Report): Promise<World> {
  const passwordHash = await createPasswords().hash(password);
  const caller = await foundCompany(database, passwordHash);
  const { companyId, employeeId } = caller;
  const step = async (what: string, statement: string): Promise<void> => {
    report(`seeding ${what}`);
    await client.query(statement);
  };
  // References hold by the way rows are made here; checking each takes most of the time, where that is not a superuser's.
  await client.query('set session_replication_role = replica').catch(() => {});
  const { rows: searched } = await client.query<{ definition: string }>(
    `select pg_get_indexdef('employees_by_search'::regclass) as definition`,
  );
  await client.query('drop index employees_by_search');
  await step(
    `${sizes.employees} employees`,
    `with account as (
      insert into accounts (email, email_verified_at, created_at, updated_at)
      select substr(md5(n::text), 1, 16) || '@company.example', now(), now(), now() from generate_series(2, ${sizes.employees}) as n
      returning account_id, email
    ), person as (
      select account_id, email, row_number() over () as n from account
    ), named as (
      select account_id, email, n, (${firstNames})[1 + n % 20] as first_name, (${lastNames})[1 + (n / 20) % 50] as last_name
      from person
    )
    insert into employees (
      company_id, account_id, email, first_name, last_name, designation, salary, phone, search_text, created_at, updated_at
    )
    select ${companyId}, account_id, email, first_name, last_name, 'Engineer', 50000 + n % 1000, '+44 20 7946 0958',
      ' ' || lower(first_name || ' ' || last_name || ' ' || email || ' engineer'), now(), now()
    from named order by n`,
  );
  await step(
    'their counters',
    `insert into notification_counts (company_id, employee_id)
    select company_id, employee_id from employees where company_id = ${companyId} on conflict do nothing`,
  );
  await step('the index of their search', searched[0]!.definition);
  const employees = await rangeOf(client, 'employees', 'employee_id', companyId);
  await step(
    `${sizes.projects} projects`,
    `insert into projects (company_id, name, owner_id, status, created_at, updated_at)
    select ${companyId}, 'Project ' || n, ${employeeId}, case when n <= 5 then 'completed' else 'active' end, now(), now()
    from generate_series(1, ${sizes.projects}) as n`,
  );
  const projects = await rangeOf(client, 'projects', 'project_id', companyId);
  await step(
    `${sizes.tasks} tasks`,
    `insert into tasks (company_id, project_id, title, owner_id, created_at, updated_at)
    select ${companyId}, ${projects.first} + n % ${projects.count}, 'Task ' || n, ${employeeId}, now(), now()
    from generate_series(1, ${sizes.tasks}) as n`,
  );
  await recomputeTaskCounts(database.db, companyId);
  await recomputeCompanyCounts(database.db, companyId);
  const tasks = await rangeOf(client, 'tasks', 'task_id', companyId);
  await seedComments(step, { companyId, employees, tasks }, sizes.comments);
  await recomputeCommentCounts(database.db, companyId);
  await step(
    `${sizes.notifications} notifications`,
    `insert into notifications (
      company_id, recipient_id, cause, app_type, category, priority, title, message, link, actor_id, task_id, is_read, created_at
    )
    select ${companyId}, ${employeeId}, 'seed ' || n, 'task', case when n <= 5 then 'notice' else 'message' end,
      'updates', 'Grace Hopper commented on Task ' || n,
      'It works since this morning, have a look when you find the time.', 'https://app.example/tasks/' || n,
      ${employees.first} + 1 + n % ${commenters}, ${tasks.first} + n % ${tasks.count}, n % 4 > 0 or n > 20000, now()
    from generate_series(1, ${sizes.notifications}) as n`,
  );
  await recomputeNotificationCounts(database.db, companyId);
  await step(
    `${sizes.logs} task logs`,
    `insert into task_logs (
      company_id, task_id, employee_id, project_id, start_time, end_time, description, manual_add, created_at, updated_at
    )
    select t.company_id, t.task_id, ${employees.first} + n % ${employees.count}, t.project_id, begun, begun + interval '1 hour',
      'Cut the gears', true, now(), now()
    from generate_series(0, ${sizes.logs - 1}) as n
    -- Long ago: logs that are measured are of this year, and meet none of these on their days.
    cross join lateral (select timestamptz '2019-01-01' + n * interval '37 seconds' as begun) as b
    join tasks as t on t.company_id = ${companyId} and t.task_id = ${tasks.first} + n / ${logsPerTask}`,
  );
  await client.query('reset session_replication_role').catch(() => {});
  report('the days of those logs');
  await recomputeWorkDays(database.db, companyId);
  report('vacuum');
  await client.query('vacuum (analyze)');
  const some = (count: number): Range => ({ first: tasks.first, count });
  return {
    ...caller,
    callers: [caller, ...(await signInColleagues(client, caller))],
    password,
    employees,
    tasks,
    talkedOn: some(Math.floor(sizes.comments / commentsPerTask)),
    loggedOn: some(Math.floor(sizes.logs / logsPerTask)),
    comments: await rangeOf(client, 'comments', 'comment_id', companyId),
    projects,
  };
}

async function foundCompany(database: Database, passwordHash: string | null = null) {
  const now = new Date();
  const email = `ada-${randomUUID()}@company.example`;
  const { db } = database;
  const { companyId } = await setUpCompany(db, { name: 'Analytical Engines', referralCode: null, now });
  const { account_id: accountId } = await db
    .insertInto('accounts')
    .values({ email, password_hash: passwordHash, email_verified_at: now, created_at: now, updated_at: now })
    .returning('account_id')
    .executeTakeFirstOrThrow();
  const person = { firstName: 'Ada', lastName: 'Lovelace', designation: 'Analyst', salary: 90_000, isAdmin: true };
  const employeeId = await insertEmployee(db, { companyId, accountId, email, ...person, now });
  const { session_id: sessionId } = await db
    .insertInto('sessions')
    .values({
      account_id: accountId,
      company_id: companyId,
      employee_id: employeeId,
      method: 'password',
      rotated_at: now,
      expires_at: new Date(now.getTime() + 24 * 3600 * 1000),
      created_at: now,
      last_used_at: now,
    })
    .returning('session_id')
    .executeTakeFirstOrThrow();
  return { companyId, employeeId, accountId, sessionId, email };
}

/** Small companies, each of one person with one project and one task. */
export async function seedCompanies(
  database: Database,
  client: pg.Client,
  count: number,
): Promise<(SignedIn & { own: Partial<World> })[]> {
  const founders = [];
  for (let company = 0; company < count; company += 1) {
    const { companyId, ...founder } = await foundCompany(database);
    const { rows } = await client.query<{ project_id: string; task_id: string }>(
      `with project as (
        insert into projects (company_id, name, owner_id, status, created_at, updated_at)
        values ($1, 'Project', $2, 'active', now(), now()) returning company_id, project_id, owner_id
      )
      insert into tasks (company_id, project_id, title, owner_id, created_at, updated_at)
      select company_id, project_id, 'Task', owner_id, now(), now() from project
      returning project_id, task_id`,
      [companyId, founder.employeeId],
    );
    const tasks = { first: Number(rows[0]!.task_id), count: 1 };
    const projects = { first: Number(rows[0]!.project_id), count: 1 };
    founders.push({ ...founder, own: { companyId, tasks, projects } });
  }
  return founders;
}

/** Makes admins of those who call beside the founder, and a session for each. */
async function signInColleagues(
  client: pg.Client,
  { companyId, employeeId }: { companyId: number; employeeId: number },
): Promise<SignedIn[]> {
  const { rows } = await client.query<{ [Key in keyof SignedIn]: string }>(
    `with colleagues as (
      update employees set is_admin = true
      where company_id = ${companyId} and employee_id between ${employeeId + 1} and ${employeeId + callersCount - 1}
      returning company_id, employee_id, account_id
    )
    insert into sessions (account_id, company_id, employee_id, method, rotated_at, expires_at, created_at, last_used_at)
    select account_id, company_id, employee_id, 'password', now(), now() + interval '1 day', now(), now() from colleagues
    returning session_id as "sessionId", account_id as "accountId", employee_id as "employeeId"`,
  );
  return rows.map(({ sessionId, accountId, employeeId: id }) => ({
    sessionId: Number(sessionId),
    accountId: Number(accountId),
    employeeId: Number(id),
  }));
}

async function rangeOf(client: pg.Client, table: string, column: string, companyId: number): Promise<Range> {
  const { rows } = await client.query<{ first: string; last: string; count: string }>(
    `select min(${column}) as first, max(${column}) as last, count(*) from ${table} where company_id = ${companyId}`,
  );
  const [first, last, count] = [Number(rows[0]!.first), Number(rows[0]!.last), Number(rows[0]!.count)];
  if (last - first + 1 !== count) throw new Error(`${table} has gaps: it was not empty before`);
  return { first, count };
}

const array = (words: string): string => `array['${words.split(' ').join("','")}']`;
const firstNames = array(
  'Grace Alan Edsger Barbara Donald John Frances Ken Dennis Radia Tony Adele Leslie Margaret Niklaus Jean Robin Shafi Tim Vint',
);
const lastNames = array(
  'Hopper Turing Dijkstra Liskov Knuth Backus Allen Thompson Ritchie Perlman Hoare Goldberg Lamport Hamilton Wirth Sammet Milner Goldwasser Berners Cerf Kahn Kay Wilkes Bartik Holberton Perlis Floyd Minsky McCarthy Newell Simon Rabin Scott Iverson Codd Cook Karp Hopcroft Tarjan Gray Brooks Engelbart Lampson Dahl Nygaard Naur Yao Blum Rivest Shamir',
);
