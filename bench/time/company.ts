import type pg from 'pg';
import type { Database } from '../../db/open.ts';
import { recomputeCompanyCounts, recomputeTaskCounts } from '../../db/derived/task-counts.ts';
import { verifyTotals } from '../../db/derived/verify-work-time.ts';
import { recomputeWorkDays } from '../../db/derived/work-time.ts';
import { copyIn } from './copy-in.ts';

/*
 * A company of 500 people who log eight times a day: the more logs it has, the longer it has been at work (a million
 * are a year of workdays). Each task takes a hundred logs; there are 50 projects and as many comments as tasks.
 */
const people = 500;
const projects = 50;
const logsPerDay = people * 8;
const logsPerTask = 100;
const linesPerChunk = 5_000;

export type Company = {
  companyId: number;
  employeeIds: number[];
  projectIds: number[];
  taskIds: number[];
  logs: number;
};
type Report = (what: string) => void;

export async function hire(client: pg.Client, companyId: number): Promise<Company> {
  await client.query(`
    with account as (
      insert into accounts (email, created_at, updated_at)
      select 'bench' || n || '@company-${companyId}.example', now(), now() from generate_series(2, ${people}) as n
      returning account_id, email
    )
    insert into employees (company_id, account_id, email, first_name, last_name, search_text, created_at, updated_at)
    select ${companyId}, account_id, email, 'Bench', account_id::text, ' bench', now(), now() from account`);
  const ids = async (text: string) => (await client.query<{ id: string }>(text)).rows.map(({ id }) => Number(id));
  const employeeIds = await ids(`select employee_id as id from employees where company_id = ${companyId} order by 1`);
  const projectIds = await ids(`
    insert into projects (company_id, name, owner_id, created_at, updated_at)
    select ${companyId}, 'Project ' || n, ${employeeIds[0]}, now(), now() from generate_series(1, ${projects}) as n
    returning project_id as id`);
  return { companyId, employeeIds, projectIds, taskIds: [], logs: 0 };
}

/** Grows the company to a number of logs, with all stored totals. */
export async function grow(database: Database, client: pg.Client, company: Company, logs: number, report: Report) {
  await addTasks(client, company, Math.ceil(logs / logsPerTask));
  const restore = await dropIndexes(client);
  const start = performance.now();
  await copyIn(client, copyStatement, chunksOf(company, logs, report));
  report(`${logs} logs are in after ${seconds(start)}; indexes`);
  await restore();
  company.logs = logs;
  report('vacuum');
  await client.query('vacuum (analyze)');
  await sumProjects(client, company);
  await recomputeAll(database, company, report);
  await client.query('vacuum (analyze)');
}

async function sumProjects(client: pg.Client, { companyId }: Company): Promise<void> {
  await client.query(`
    update projects as p set logged_seconds = l.seconds
    from (select project_id, sum(duration_seconds) as seconds from task_logs where company_id = ${companyId} group by 1) as l
    where p.company_id = ${companyId} and p.project_id = l.project_id`);
}

/** Recomputes and verifies all counters that were not maintained while logs were loaded without triggers. */
async function recomputeAll(database: Database, { companyId }: Company, report: Report): Promise<void> {
  report('totals');
  const transaction = database.begin();
  const { db } = transaction;
  try {
    await db.selectFrom('companies').where('company_id', '=', companyId).select('company_id').forUpdate().execute();
    await recomputeTaskCounts(db, companyId);
    await recomputeCompanyCounts(db, companyId);
    await recomputeWorkDays(db, companyId);
    await transaction.commit();
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
  const { checked, differences } = await verifyTotals(database.db, companyId);
  if (differences.length > 0) throw new Error(`totals differ: ${JSON.stringify(differences.slice(0, 3))}`);
  report(`totals of ${checked.logs} logs on ${checked.days} days of people are right`);
}

async function addTasks(client: pg.Client, company: Company, count: number): Promise<void> {
  const { companyId, employeeIds, projectIds, taskIds } = company;
  const { rows } = await client.query<{ id: string }>(`
    insert into tasks (company_id, project_id, title, owner_id, status, due_date, completed_at, created_at, updated_at)
    select ${companyId}, (array[${projectIds.join()}])[1 + n % ${projects}], 'Task ' || n,
      (array[${employeeIds.join()}])[1 + n % ${people}], case when n % 10 = 0 then 'in_progress' else 'done' end,
      -- The few that are late do not grow with the rest.
      case when n % 10 = 0 then case when n < 500 then date '2020-01-01' end else current_date end,
      case when n % 10 <> 0 then now() - n * interval '1 hour' end, now(), now()
    from generate_series(${taskIds.length}, ${count - 1}) as n
    returning task_id as id`);
  company.taskIds.push(...rows.map(({ id }) => Number(id)));
  await client.query(`
    insert into comments (company_id, task_id, sender_id, message, created_at)
    select company_id, task_id, owner_id, '<p>Done</p>', now() from tasks
    where company_id = ${companyId} and task_id >= ${rows[0]?.id ?? 0}`);
}

const copyStatement =
  'copy task_logs (company_id, task_id, project_id, employee_id, start_time, end_time, manual_add, created_at, updated_at) from stdin';

function* chunksOf(company: Company, logs: number, report: Report): Generator<string> {
  const { companyId, employeeIds, projectIds, taskIds } = company;
  const days = workdays(Math.ceil(logs / logsPerDay));
  const firstTask = Math.ceil(company.logs / logsPerTask);
  const newTasks = taskIds.length - firstTask;
  const stamp = new Date().toISOString();
  let lines: string[] = [];
  for (let n = company.logs; n < logs; n += 1) {
    const [nth, hour] = [n % people, 7 + Math.floor((n % logsPerDay) / people)];
    // Within the hour, 30 to 59 minutes long.
    const startMs = days[Math.floor(n / logsPerDay)]! + (hour * 3600 + ((n * 31) % 60)) * 1000;
    const endMs = startMs + (1800 + ((n * 7919) % 1700)) * 1000;
    const task = firstTask + ((n * 104_729) % newTasks);
    lines.push(
      `${companyId}\t${taskIds[task]}\t${projectIds[task % projects]}\t${employeeIds[nth]}\t${new Date(startMs).toISOString()}\t${new Date(endMs).toISOString()}\tt\t${stamp}\t${stamp}\n`,
    );
    if (lines.length < linesPerChunk && n < logs - 1) continue;
    yield lines.join('');
    report(`${n + 1} of ${logs} logs`);
    lines = [];
  }
}

/** The last workdays before today, the latest first. */
export function workdays(count: number): number[] {
  const dayMs = 24 * 3600 * 1000;
  const found: number[] = [];
  for (let day = Math.floor(Date.now() / dayMs) * dayMs - dayMs; found.length < count; day -= dayMs)
    if (![0, 6].includes(new Date(day).getUTCDay())) found.push(day);
  return found;
}

/** Removes indexes and checks that slow down a load, and returns how to restore them. */
async function dropIndexes(client: pg.Client): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    select c.relname as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index as i join pg_class as c on c.oid = i.indexrelid
    where i.indrelid = 'task_logs'::regclass and not i.indisunique`);
  for (const { name } of rows) await client.query(`drop index ${name}`);
  // Without superuser rights foreign keys are checked row by row, which takes some minutes more.
  const unchecked = await client.query(`set session_replication_role = replica`).then(
    () => true,
    () => false,
  );
  return async () => {
    if (unchecked) await client.query('reset session_replication_role');
    for (const { definition } of rows) await client.query(definition);
  };
}

export const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(0)} s`;
