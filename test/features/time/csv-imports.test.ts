import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import { errorOf, type Actor, type Answer } from '../../support/actor.ts';
import { importCsv, readWork, togglFile, type ImportInput } from '../../support/csv-imports.ts';
import { logHours, setPolicy, submit } from '../../support/periods.ts';
import { waitForLockWaits } from '../../support/lock-waits.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* What an import does with what is there already: people, projects, logs, locks, and imports of before. */

const service = await startService();
const { database } = service;

type Cells = Record<string, string>;

async function startCompany(): Promise<{ admin: Actor; grace: Actor }> {
  const admin = await service.registerCompany();
  return { admin, grace: await service.addEmployee(admin) };
}

/** An hour on another day for each number. */
const hourOn = (day: number, cells: Cells = {}): Cells => {
  const date = new Date(Date.UTC(2026, 1, day)).toISOString().slice(0, 10);
  return { 'Start date': date, 'End date': date, ...cells };
};

const createdBy = async (answer: Promise<Answer>) => {
  const { status, body } = await answer;
  return status === 200 ? body.created : { status, code: body.code };
};

/** The errors of a dry run as `line column code`, which changes nothing. */
async function errorsOf(admin: Actor, csv: string, input: ImportInput = {}): Promise<string[]> {
  const { body } = await importCsv(admin, csv, { ...input, dry_run: true });
  return body.errors.map((one: { line: number; column: string; code: string }) =>
    [one.line, one.column, one.code].join(' '),
  );
}

describe('an import', () => {
  test('is for admins of the company, over REST and tRPC, and with an API key that may write', async () => {
    const { admin, grace } = await startCompany();
    const leader = await service.addEmployee(admin, { isTeamLeader: true });
    const csv = togglFile(grace.email, [{}]);
    for (const actor of [grace, leader])
      expect(errorOf(await importCsv(actor, csv))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
    expect(errorOf(await service.anonymous.post('/api/imports/csv/', {}))).toMatchObject({ status: 401 });
    const keyed = async (scopes: string[]) => {
      const { body } = await admin.post('/api/api-keys/', { name: 'Import', scopes, expiresAt: null });
      return service.anonymous.post(
        '/api/imports/csv/',
        { source: 'toggl', csv, time_zone: 'UTC', date_order: 'YMD', dry_run: true },
        { headers: { authorization: `Bearer ${body.key}` } },
      );
    };
    expect(errorOf(await keyed(['read']))).toEqual({ status: 403, code: 'SCOPE_REQUIRED' });
    expect((await keyed(['read', 'write'])).body.created).toEqual({ projects: 1, tasks: 1, logs: 1 });
    expect((await readWork(service, admin)).projects).toEqual([]);
    const input = { source: 'toggl', csv, time_zone: 'UTC', date_order: 'YMD', dry_run: false } as const;
    expect(await admin.trpc.csvImports.run.mutate(input)).toMatchObject({ created: { logs: 1 } });
  });

  test('states its time zone and the order of its dates', async () => {
    const { admin, grace } = await startCompany();
    const csv = togglFile(grace.email, [{}]);
    const without = (field: string) => importCsv(admin, csv, { [field]: undefined });
    for (const field of ['time_zone', 'date_order', 'dry_run', 'source'])
      expect(errorOf(await without(field)).issues).toEqual([field]);
    for (const input of [{ time_zone: 'Berlin/Mitte' }, { time_zone: '+02:00' }, { date_order: 'YDM' }])
      expect(errorOf(await importCsv(admin, csv, input)).issues).toEqual(Object.keys(input));
  });

  test('takes projects and tasks by their names, and creates what is not there', async () => {
    const { admin, grace } = await startCompany();
    const { projectId, taskId } = await startWork(admin, { name: 'Engine' });
    const csv = togglFile(grace.email, [
      hourOn(1, { Task: 'Turn the crank' }),
      hourOn(2, { Task: 'Turn the Crank' }),
      hourOn(3, { Project: 'engine' }),
    ]);
    const { body } = await importCsv(admin, csv);
    expect(body.created).toEqual({ projects: 1, tasks: 2, logs: 3 });
    expect(body.projects).toEqual([
      { _id: expect.any(Number), name: 'engine', isNew: true, tasks: 1, logs: 1 },
      { _id: projectId, name: 'Engine', isNew: false, tasks: 1, logs: 2 },
    ]);
    expect((await readWork(service, admin)).logs[0]).toMatchObject({ task_id: taskId, project_id: projectId });
  });

  test('refuses names that several projects or tasks have, unless the project is said', async () => {
    const { admin, grace } = await startCompany();
    const first = await startWork(admin, { name: 'Engine' });
    const second = await startWork(admin, { name: 'Engine' });
    await admin.post('/api/tasks/', { projectId: first.projectId, title: 'Turn the crank' });
    const csv = togglFile(grace.email, [hourOn(1, { Task: 'Turn the crank' }), hourOn(2, { Task: 'Turn the crank' })]);
    expect(await errorsOf(admin, csv)).toEqual(['2  invalid_value', '3  invalid_value']);
    expect(await errorsOf(admin, csv, { projects: { Engine: first.projectId } })).toEqual([
      '2  invalid_value',
      '3  invalid_value',
    ]);
    const projects = { Engine: second.projectId, Other: second.projectId };
    expect(await createdBy(importCsv(admin, csv, { projects }))).toEqual({ projects: 0, tasks: 0, logs: 2 });
    const same = togglFile(grace.email, [hourOn(3, { Project: 'Other' }), hourOn(3), hourOn(4)]);
    expect(await errorsOf(admin, same, { projects })).toEqual(['3 Start time duplicate']);
    const neighbour = await service.registerCompany();
    const theirs = await startWork(neighbour);
    const refused = await importCsv(admin, csv, { projects: { Engine: theirs.projectId } });
    expect(errorOf(refused)).toMatchObject({ status: 400, issues: ['projects.Engine'] });
  });

  test('finds people by what the caller says, by address and by a name that only one has', async () => {
    const { admin, grace } = await startCompany();
    const named = (first_name: string) => service.addEmployee(admin, { first_name, last_name: 'Clarke' });
    const joan = await named('Joan');
    const [twin, , gone] = [await named('Jo'), await named('Jo'), await named('Jim')];
    await admin.patch(`/api/employees/${gone.employeeId}/`, { is_active: false });
    const who = (day: number, User: string, Email = '') => hourOn(day, { User, Email });
    const csv = togglFile('', [
      who(1, '', grace.email.toUpperCase()),
      who(2, 'Joan Clarke', 'joan@elsewhere.example'),
      who(3, 'Jo Clarke'),
      who(4, 'Jim Clarke'),
      who(5, 'joan clarke'),
      who(6, ''),
      who(7, 'J.C.'),
    ]);
    expect(await errorsOf(admin, csv)).toEqual([
      '4 User invalid_format',
      '5 User invalid_value',
      '6 User not_found',
      '7 User required',
      '8 User not_found',
    ]);
    const people = { 'Jo Clarke': twin.employeeId, 'j.c.': joan.employeeId };
    expect(await errorsOf(admin, csv, { people })).toEqual([
      '5 User invalid_value',
      '6 User not_found',
      '7 User required',
    ]);
    expect(await createdBy(importCsv(admin, csv, { people, skip_errors: true }))).toMatchObject({ logs: 4 });
    expect((await readWork(service, admin)).logs.map((log) => log.employee_id)).toEqual(
      [grace, joan, twin, joan].map((one) => one.employeeId),
    );
    const neighbour = await service.registerCompany();
    const refused = await importCsv(admin, csv, { people: { 'J.C.': neighbour.employeeId } });
    expect(errorOf(refused)).toMatchObject({ status: 400, issues: ['people.J.C.'] });
  });

  test('stores nothing where rows have errors, or the other rows if it is asked to', async () => {
    const { admin, grace } = await startCompany();
    const wrong = Array.from({ length: 120 }, (_, day) => hourOn(day, { 'End time': '08:00:00', Task: `${day}` }));
    const csv = togglFile(grace.email, [hourOn(1), ...wrong, hourOn(2)]);
    const refused = await importCsv(admin, csv);
    expect(refused).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', issues: { length: 100 } } });
    expect(refused.body.issues[0]).toEqual({
      path: ['csv', 3, 'End time'],
      message: 'must be after the start',
      code: 'out_of_range',
    });
    expect(await readWork(service, admin)).toEqual({ projects: [], tasks: [], logs: [] });
    const { body } = await importCsv(admin, csv, { skip_errors: true });
    expect(body).toMatchObject({
      created: { projects: 1, tasks: 1, logs: 2 },
      skipped: { withErrors: 120 },
      errorCount: 120,
      errors: { length: 100 },
    });
    expect((await readWork(service, admin)).tasks.map(({ title }) => title)).toEqual(['Mill']);
  });

  test('says which order would fit where dates contradict the stated one', async () => {
    const { admin, grace } = await startCompany();
    const csv = togglFile(grace.email, [
      { 'Start date': '28/02/2026', 'End date': '28/02/2026' },
      { 'Start date': '02/03/2026', 'End date': '02/03/2026' },
      { 'Start date': '13/03/2026', 'End date': '13/03/2026' },
    ]);
    const { body } = await importCsv(admin, csv, { date_order: 'MDY', dry_run: true });
    expect(body).toMatchObject({ fittingDateOrders: ['DMY'], errorCount: 4, skipped: { withErrors: 2 } });
    expect(body.errors[0]).toEqual({
      line: 2,
      column: 'Start date',
      message: 'is no date in the order MDY, from 1970 on: "28/02/2026"',
      code: 'invalid_value',
    });
    const refused = await importCsv(admin, csv, { date_order: 'MDY' });
    expect(refused.body.detail).toMatch(/^date_order is MDY, and all dates of the file fit DMY; csv\.2\.Start date/);
    expect(await createdBy(importCsv(admin, csv, { date_order: 'DMY' }))).toMatchObject({ logs: 3 });
  });

  test('gives logs their rates, and tells of itself in one event for each project and one row of the audit log', async () => {
    const { admin, grace } = await startCompany();
    const { projectId } = await startWork(admin, { name: 'Engine' });
    const rate = { validFrom: '2026-01-01', hourlyRate: { minorUnits: 9500, currency: 'EUR' } };
    await admin.put(`/api/rates/${admin.companyId}/`, rate);
    await importCsv(
      admin,
      togglFile(grace.email, [hourOn(1), hourOn(2, { Billable: 'No' }), hourOn(3, { Project: 'Loom' })]),
    );
    const { logs, projects } = await readWork(service, admin);
    expect(logs.map((log) => log.rate_minor_units)).toEqual([9500, null, 9500]);
    const events = await database.db
      .selectFrom('events')
      .where('company_id', '=', admin.companyId)
      .where('type', 'in', ['project.imported', 'task.created', 'task_log.created'])
      .select(['stream', 'type', 'payload'])
      // Not by the stream: its name has the number of the project as text.
      .orderBy(sql`(payload->>'projectId')::bigint nulls first`)
      .execute();
    const common = { actorId: admin.employeeId, source: 'toggl', truncated: false };
    const loom = projects.find(({ name }) => name === 'Loom')!.project_id;
    const ofImport = events.filter(({ type }) => type === 'project.imported').map(({ payload }) => payload);
    expect(events.map(({ type }) => type)).toEqual(['task.created', 'project.imported', 'project.imported']);
    expect(ofImport).toEqual([
      { ...common, projectId, tasks: 1, taskLogs: 2 },
      { ...common, projectId: loom, tasks: 1, taskLogs: 1 },
    ]);
    const { body } = await admin.get(`/api/audit/company/${admin.companyId}/?operation=csvImports.run`);
    expect(body.results).toHaveLength(1);
    expect(body.results[0].changes.map((one: { event: string; id: number }) => [one.event, one.id])).toEqual([
      ['project.created', loom],
      ['project.imported', projectId],
      ['project.imported', loom],
    ]);
    expect(JSON.stringify(body)).not.toContain(grace.email);
  });
});

describe('an import of what is there already', () => {
  test('adds appended rows only, and leaves alone what was changed since', async () => {
    const { admin, grace } = await startCompany();
    const rows = [hourOn(1), hourOn(2), hourOn(3)];
    await importCsv(admin, togglFile(grace.email, rows.slice(0, 2)));
    const [first] = (await readWork(service, admin)).logs;
    const moved = { start_time: '2026-01-20T12:00:00Z', end_time: '2026-01-20T13:00:00Z', description: 'Moved' };
    expect((await admin.put(`/tasklogs/${first!.task_log_id}/`, moved)).status).toBe(200);
    const { body } = await importCsv(admin, togglFile(grace.email, rows));
    expect(body).toMatchObject({ created: { projects: 0, tasks: 0, logs: 1 }, skipped: { imported: 2 } });
    const descriptions = (await readWork(service, admin)).logs.map((log) => log.description);
    expect(descriptions).toEqual(['Moved', null, null]);
  });

  test('knows a row in another format, and brings back what was deleted', async () => {
    const { admin, grace } = await startCompany();
    await importCsv(admin, togglFile(grace.email, [hourOn(1), hourOn(2)]));
    const { logs, tasks } = await readWork(service, admin);
    await admin.delete(`/api/tasklogs/delete/${logs[0]!.task_log_id}/`);
    // 1 and 2 February, as an American who travels writes them.
    const csv = togglFile(grace.email, [
      { 'Start date': '2/1/2026', 'End date': '2/1/2026', 'Start time': '4:00 AM', 'End time': '5:00 AM' },
      { 'Start date': '2/2/2026', 'End date': '2/2/2026', 'Start time': '4:00 AM', 'End time': '5:00 AM' },
    ]).replaceAll(',', ';');
    const american = { date_order: 'MDY', time_zone: 'America/New_York' };
    const { body } = await importCsv(admin, csv, american);
    expect(body).toMatchObject({ created: { tasks: 0, logs: 1 }, skipped: { imported: 1 } });
    await admin.delete(`/api/tasks/${tasks[0]!.task_id}/`);
    expect(await createdBy(importCsv(admin, csv, american))).toEqual({ projects: 0, tasks: 1, logs: 2 });
    expect((await importCsv(admin, csv, american)).body.skipped.imported).toBe(2);
  });

  test('refuses time that was logged by hand, or twice in the file, and not what only overlaps', async () => {
    const { admin, grace } = await startCompany();
    const { taskId } = await startWork(admin, { name: 'Engine' });
    await logHours(grace, taskId, '2026-02-01');
    const crank = { Task: 'Turn the crank' };
    const csv = togglFile(grace.email, [
      hourOn(1, crank),
      hourOn(1, { ...crank, 'Start time': '09:30:00' }),
      hourOn(1),
      hourOn(2, crank),
      hourOn(2, { ...crank, 'End time': '11:00:00' }),
    ]);
    expect(await errorsOf(admin, csv)).toEqual(['2 Start time duplicate', '6 Start time duplicate']);
    expect(await createdBy(importCsv(admin, csv, { skip_errors: true }))).toEqual({ projects: 0, tasks: 1, logs: 3 });
  });

  test('refuses rows that say the same person, task and start, also if they are of two employees', async () => {
    const { admin, grace } = await startCompany();
    const [ada, bob] = [admin, grace].map((one) => ({ Email: 'shared@x.example', User: one.email }));
    const csv = togglFile('', [hourOn(1, ada), hourOn(1, bob), hourOn(2, bob)]);
    const { body } = await importCsv(admin, csv, { dry_run: true });
    expect(body.errors).toMatchObject([{ line: 3, column: 'Start time', code: 'duplicate' }]);
    expect(body.errors[0].message).toBe('is that of line 2, on the same task and of the same person or address');
    expect(errorOf(await importCsv(admin, csv))).toMatchObject({ status: 400, issues: ['csv.3.Start time'] });
    expect(await createdBy(importCsv(admin, csv, { skip_errors: true }))).toEqual({ projects: 1, tasks: 1, logs: 2 });
  });

  test('is made once of many at once, beside that of another company', async () => {
    const [one, other] = [await startCompany(), await startCompany()];
    const fileOf = ({ grace }: { grace: Actor }) =>
      togglFile(
        grace.email,
        Array.from({ length: 300 }, (_, day) => hourOn(-day, { Task: `Task ${day % 7}` })),
      );
    const files = [fileOf(one), fileOf(other)];
    const running = Array.from({ length: 8 }, (_, index) =>
      importCsv(index % 2 === 0 ? one.admin : other.admin, files[index % 2]!),
    );
    const answers = await Promise.all(running);
    expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body.code)).toEqual([]);
    expect(answers.map(({ body }) => body.created.logs as number).toSorted((a, b) => b - a)).toEqual([
      300, 300, 0, 0, 0, 0, 0, 0,
    ]);
    for (const { admin } of [one, other]) {
      const { projects, tasks, logs } = await readWork(service, admin);
      expect([projects.length, tasks.length, logs.length]).toEqual([1, 7, 300]);
    }
  });

  test('is answered as before with the Idempotency-Key of before', async () => {
    const { admin, grace } = await startCompany();
    const input = { source: 'toggl', csv: togglFile(grace.email, [{}]), time_zone: 'UTC', date_order: 'YMD' };
    const send = (key: string, dry_run = false) =>
      admin.post('/api/imports/csv/', { ...input, dry_run }, { headers: { 'idempotency-key': key } });
    const first = await send('import-1');
    const again = await send('import-1');
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    expect((await send('import-2')).body.created.logs).toBe(0);
    expect(errorOf(await send('import-1', true))).toEqual({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('that asks for too much at once is told to wait, and changes nothing', async () => {
    const { admin, grace } = await startCompany();
    const csv = togglFile(
      grace.email,
      Array.from({ length: 500 }, (_, day) => hourOn(-day)),
    );
    const answers = await Promise.all(Array.from({ length: 64 }, () => importCsv(admin, csv, { dry_run: true })));
    const codes = new Set(answers.map(({ status, body }) => `${status} ${body.code ?? ''}`));
    expect([...codes].toSorted((a, b) => a.localeCompare(b))).toEqual(['200 ', '503 OVERLOADED']);
    expect(await readWork(service, admin)).toEqual({ projects: [], tasks: [], logs: [] });
  });
});

test('an import that fails at its end has stored nothing, and can be repeated', async () => {
  const { admin, grace } = await startCompany();
  const csv = togglFile(grace.email, [hourOn(1), hourOn(2, { Project: 'Loom' })]);
  const { db } = database;
  await sql`
    create function refuse_event() returns trigger language plpgsql as $$
    begin
      if new.type = 'project.imported' then raise exception 'no room'; end if;
      return new;
    end $$`.execute(db);
  await sql`create trigger refuse_event before insert on events for each row execute function refuse_event()`.execute(
    db,
  );
  expect(errorOf(await importCsv(admin, csv))).toEqual({ status: 500, code: 'INTERNAL_ERROR' });
  await sql`drop function refuse_event cascade`.execute(db);
  expect(await readWork(service, admin)).toEqual({ projects: [], tasks: [], logs: [] });
  expect(await createdBy(importCsv(admin, csv))).toEqual({ projects: 2, tasks: 2, logs: 2 });
});

test.runIf(process.env['TEST_DATABASE_URL'])(
  'time that is logged by hand while an import stores it is a conflict',
  async () => {
    const { admin, grace } = await startCompany();
    const { projectId, taskId } = await startWork(admin, { name: 'Engine' });
    const crank = { Task: 'Turn the crank' };
    const csv = togglFile(grace.email, [hourOn(1, crank), hourOn(2, crank)]);
    const held = database.forCompany(admin.companyId).begin();
    const times = sql`timestamptz '2026-02-02 09:00Z', timestamptz '2026-02-02 10:00Z', true, now(), now()`;
    await sql`
    insert into task_logs (company_id, task_id, employee_id, project_id, start_time, end_time, manual_add, created_at, updated_at)
    values (${admin.companyId}, ${taskId}, ${grace.employeeId}, ${projectId}, ${times})`.execute(held.db);
    const running = importCsv(admin, csv);
    await waitForLockWaits(database.db, 1);
    await held.commit();
    expect(errorOf(await running)).toEqual({ status: 409, code: 'DUPLICATE_TASK_LOG' });
    expect((await readWork(service, admin)).logs).toHaveLength(1);
  },
);

/** An import that loses a deadlock runs again, so its answer does not show it. */
async function countDeadlocks(): Promise<number> {
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks::integer as deadlocks from pg_stat_database where datname = current_database()`.execute(
    database.db,
  );
  return rows[0]!.deadlocks;
}

test.runIf(process.env['TEST_DATABASE_URL'])(
  'an import and the time of a colleague on its project wait for each other on new days, without a deadlock',
  async () => {
    const { admin, grace } = await startCompany();
    const { companyId, employeeId } = admin;
    const { projectId, taskId } = await startWork(admin, { name: 'Engine' });
    const { begin } = database.forCompany(companyId);
    const deadlocks = await countDeadlocks();
    const [holder, colleague] = [begin(), begin()];
    for (const transaction of [holder, colleague]) onTestFinished(() => transaction.rollback());
    await sql`
      select from projects where company_id = ${companyId} and project_id = ${projectId} for no key update`.execute(
      holder.db,
    );
    const running = importCsv(admin, togglFile(grace.email, [hourOn(1), hourOn(2)]));
    await waitForLockWaits(database.db, 1);
    const times = sql`timestamptz '2026-02-02 09:00Z', timestamptz '2026-02-02 10:00Z', true, now(), now()`;
    const logged = sql`
      insert into task_logs (company_id, task_id, employee_id, project_id, start_time, end_time, manual_add, created_at, updated_at)
      values (${companyId}, ${taskId}, ${employeeId}, ${projectId}, ${times})`
      .execute(colleague.db)
      .then(() => colleague.commit());
    await waitForLockWaits(database.db, 2);
    await holder.commit();
    await logged;
    expect(await createdBy(running)).toMatchObject({ logs: 2 });
    expect(await countDeadlocks()).toBe(deadlocks);
    expect((await readWork(service, admin)).projects).toMatchObject([{ logged_seconds: 3 * 3600 }]);
    expect((await verifyTotals(database.db, companyId)).differences).toEqual([]);
  },
);

describe('locked days', () => {
  test('are errors of their rows: 409 if they are all that is wrong', async () => {
    const { admin, grace } = await startCompany();
    await setPolicy(admin, { period: 'week', weekStart: 1 });
    const { taskId } = await startWork(admin, { name: 'Engine' });
    await logHours(grace, taskId, '2026-03-02');
    expect((await submit(grace)).status).toBe(200);
    const on = (date: string, cells: Cells = {}) => ({ 'Start date': date, 'End date': date, ...cells });
    const csv = togglFile(grace.email, [
      on('2026-03-04'),
      on('2026-03-09'),
      on('2026-03-01', { 'Start time': '23:30:00', 'End date': '2026-03-02', 'End time': '00:30:00' }),
    ]);
    expect(await errorsOf(admin, csv)).toEqual(['2 Start time locked', '4 Start time locked']);
    const refused = await importCsv(admin, csv);
    expect(errorOf(refused)).toEqual({
      status: 409,
      code: 'PERIOD_LOCKED',
      issues: ['csv.2.Start time', 'csv.4.Start time'],
    });
    expect(refused.body.detail).toMatch(/Locked: 2026-03-02, 2026-03-04\.$/);
    const both = togglFile(grace.email, [on('2026-03-04'), on('2026-03-10', { Billable: 'Perhaps' })]);
    expect(errorOf(await importCsv(admin, both))).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    expect(await createdBy(importCsv(admin, csv, { skip_errors: true }))).toEqual({ projects: 0, tasks: 1, logs: 1 });
    const joan = await service.addEmployee(admin);
    expect(await createdBy(importCsv(admin, togglFile(joan.email, [on('2026-03-04')])))).toMatchObject({ logs: 1 });
  });
});
