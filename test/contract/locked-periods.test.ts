import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { operationsOf, type Operation } from '../../server/kernel/operations.ts';
import { appRouter } from '../../server/router.ts';
import type { Answer } from '../support/actor.ts';
import { togglFile } from '../support/csv-imports.ts';
import { keepRows } from '../support/kept-rows.ts';
import { subscribe } from '../support/plan.ts';
import { password, startService } from '../support/service.ts';
import { callOperation, exampleWith, type Input } from '../support/smoke-calls.ts';
import { makeThings } from '../support/things.ts';
import { startWork } from '../support/work.ts';

/*
 * Every mutation is called twice with the same input: where nothing is locked, which shows whether it changes a log, and where
 * all days of all logs are locked. There it changes none, whatever it is. One that would is refused with PERIOD_LOCKED.
 */

const service = await startService();
const { database } = service;
const { db } = database;
const admin = await service.signIn((await service.registerCompany()).email);
await subscribe(service, admin, 'enterprise');
const plain = await service.addEmployee(admin);
const mutations = operationsOf(appRouter).filter(({ type, meta }) => type === 'mutation' && meta.access !== 'open');

/** Those that change logs where nothing is locked, and what they answer where all is. */
const changing: Record<string, string> = {
  'tasks.update': 'PERIOD_LOCKED',
  'taskLogs.create': 'PERIOD_LOCKED',
  'taskLogs.bulkCreate': 'PERIOD_LOCKED',
  'csvImports.run': 'PERIOD_LOCKED',
  'taskLogs.update': 'PERIOD_LOCKED',
  'taskLogs.delete': 'PERIOD_LOCKED',
  'rates.applyToLogs': 'PERIOD_LOCKED',
  'timers.start': 'PERIOD_LOCKED',
  'timers.stop': 'PERIOD_LOCKED',
  // The service ends the timer, without a log.
  'employees.delete': 'done',
  'employees.erase': 'done',
  'company.close': 'done',
};

/** What others answer where all is locked. */
const refused: Record<string, string> = { 'timesheetPeriods.submit': 'PERIOD_SUBMITTED' };

/** What an example cannot know of the day, the database and the person. */
const fitting: Record<string, Input> = {
  'rates.applyToLogs': { dryRun: false },
  'apiKeys.create': { expiresAt: null },
  'passwords.change': { current_password: password },
  'comments.create': { mentionedEmails: [] },
  'company.update': { timezone: 'Pacific/Apia' },
};

/** Gives somebody a timer that runs for so many hours. */
async function startTimer(employeeId: number, hours: number): Promise<Input> {
  const start_time = new Date(service.clock.now().getTime() - hours * 3_600_000);
  const row = { company_id: admin.companyId, employee_id: employeeId, task_id: things.task, start_time };
  await db.insertInto('timers').values(row).execute();
  return {};
}

/** What an operation needs so that it can change a log. */
const prepare: Record<string, () => Promise<Input>> = {
  'tasks.update': async () => ({ projectId: (await startWork(admin)).projectId }),
  'employees.create': async () => ({ email: 'fitting@example.com' }),
  'csvImports.run': async () => {
    const csv = togglFile(admin.email, [{ Project: 'Of things', Task: 'Import' }]);
    return { source: 'toggl', csv, projects: { 'Of things': things.project } };
  },
  'timers.start': () => startTimer(admin.employeeId, 25),
  'timers.stop': () => startTimer(admin.employeeId, 1),
  'timers.discard': () => startTimer(admin.employeeId, 1),
  'employees.delete': () => startTimer(things.colleague, 1),
  'employees.erase': () => startTimer(things.colleague, 1),
  'company.close': () => startTimer(things.colleague, 1),
};

/** The logs of the company, but for what a change of nothing writes. */
const logs = () =>
  db
    .selectFrom('task_logs')
    .where('company_id', '=', admin.companyId)
    .select([
      'task_log_id',
      'task_id',
      'project_id',
      'employee_id',
      'start_time',
      'end_time',
      'description',
      'rate_minor_units',
    ])
    .orderBy('task_log_id')
    .execute();

const things = await makeThings(service, admin, plain);
await service.drain();
const unlockAll = await keepRows(db);
// The period of the things gives way, but for the operations on it.
await sql`
  update timesheet_periods set first_day = '2024-01-01', last_day = '2024-01-07'
  where company_id = ${admin.companyId}`.execute(db);
await sql`
  insert into timesheet_periods (
    company_id, employee_id, first_day, last_day, state, submitted_by_id, submitted_at, expected_minutes, snapshot
  )
  select company_id, employee_id, day, (day + interval '1 month')::date - 1, 'approved', employee_id, now(), 0, '[]'
  from employees cross join (select ('2026-01-01'::date + n * interval '1 month')::date as day from generate_series(0, 119) as n) as months
  where company_id = ${admin.companyId}`.execute(db);
const lockAll = await keepRows(db);

/** Calls an operation with the things as they were made: what operations before have done to them is undone. */
async function call(
  operation: Operation,
  prepareRows: () => Promise<void>,
): Promise<{ answer: Answer; hasChanged: boolean }> {
  await prepareRows();
  const prepared = (await prepare[operation.name]?.()) ?? {};
  await service.drain();
  const input = { ...exampleWith(operation, (kind) => things[kind], fitting[operation.name]), ...prepared };
  const before = await logs();
  const answer = await callOperation(admin, operation, input);
  await service.drain();
  return { answer, hasChanged: JSON.stringify(before) !== JSON.stringify(await logs()) };
}

test.each(mutations.map((one) => [one.name, one] as const))(
  '%s changes no log of a locked period',
  async (name, operation) => {
    const free = await call(operation, unlockAll);
    expect(free.answer).toMatchObject({ status: 200 });
    expect(free.hasChanged).toBe(name in changing);
    const kept = await call(operation, lockAll);
    expect(kept.hasChanged).toBe(false);
    expect(kept.answer.body.code ?? 'done').toBe(changing[name] ?? refused[name] ?? 'done');
  },
);

test('every operation that is listed is a mutation', () => {
  const names = new Set(mutations.map(({ name }) => name));
  expect([changing, refused, prepare].flatMap(Object.keys).filter((name) => !names.has(name))).toEqual([]);
});
