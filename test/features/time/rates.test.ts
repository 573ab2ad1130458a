import { describe, expect, test } from 'vitest';
import { errorOf, type Actor, type Answer } from '../../support/actor.ts';
import { logHours, monday, setPolicy, submit } from '../../support/periods.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

/* What an hour costs, to whom it is shown, and how stored time gets another rate. */

const service = await startService();
const { db } = service.database;
const eur = (minorUnits: number) => ({ minorUnits, currency: 'EUR' });

async function start() {
  const admin = await service.registerCompany();
  const grace = await service.addEmployee(admin);
  return { admin, grace, ...(await startWork(admin)) };
}

type Subject = { task_id?: number; project_id?: number; employee_id?: number };

const setRate = (
  admin: Actor,
  minorUnits: number | null,
  { validFrom = '2020-01-01', currency = 'EUR', ...subject }: Subject & { validFrom?: string; currency?: string } = {},
): Promise<Answer> =>
  admin.put(`/api/rates/${admin.companyId}/`, {
    ...subject,
    validFrom,
    hourlyRate: minorUnits === null ? null : { minorUnits, currency },
  });

const apply = (admin: Actor, fields: object = {}) =>
  admin.post('/api/tasklogs/apply-rates/', { from: '2026-03-01', to: '2026-03-31', dryRun: false, ...fields });

const logsOf = async (admin: Actor, taskId: number) => (await admin.get(`/taskLogs/task/${taskId}/`)).body.taskLogs;
const ratesOf = async (admin: Actor, taskId: number): Promise<(number | null)[]> =>
  (await logsOf(admin, taskId)).map((log: { charge: { hourlyRate: { minorUnits: number } } | null }) =>
    log.charge ? log.charge.hourlyRate.minorUnits : null,
  );

/** What an admin was told, sorted: jobs run side by side. */
async function notices(admin: Actor, projectId: number): Promise<string[]> {
  await service.drain();
  const rows = await db
    .selectFrom('notifications')
    .where('company_id', '=', admin.companyId)
    .where('project_id', '=', projectId)
    .where('recipient_id', '=', admin.employeeId)
    .select(['title', 'message'])
    .execute();
  return rows.map(({ title, message }) => `${title}: ${message}`).toSorted();
}

describe('the rate of a log', () => {
  test('is that of its task, else of its project and employee, project, employee or company', async () => {
    const { admin, grace, projectId, taskId } = await start();
    const mine = { task_id: taskId, project_id: projectId, employee_id: grace.employeeId };
    const chargeOf = async (hour: string) =>
      (await logHours(grace, taskId, monday, hour, `${+hour + 1}`.padStart(2, '0'))).body._id;
    const ids: number[] = [await chargeOf('08')];
    for (const [hour, rate, subject] of [
      ['10', 100, []],
      ['11', 200, ['employee_id']],
      ['12', 300, ['project_id']],
      ['13', 400, ['project_id', 'employee_id']],
      ['14', 500, ['task_id']],
    ] as const) {
      const named = Object.fromEntries(subject.map((name) => [name, mine[name]]));
      expect((await setRate(admin, rate, named)).body).toMatchObject({ hourlyRate: eur(rate), ...named });
      ids.push(await chargeOf(hour));
    }
    expect(await ratesOf(admin, taskId)).toEqual([500, 400, 300, 200, 100, null]);
    // Those of others are not taken.
    const other = await addTask(admin, projectId);
    await logHours(admin, other, monday);
    expect(await ratesOf(admin, other)).toEqual([300]);
  });

  test('is that of the day on which it starts where the company is, until the next one or an end', async () => {
    const { admin, taskId } = await start();
    await admin.put(`/company/${admin.companyId}/update/`, { timezone: 'Pacific/Auckland' });
    await setRate(admin, 100, { validFrom: '2026-03-03' });
    await setRate(admin, 200, { validFrom: '2026-03-05' });
    await setRate(admin, null, { validFrom: '2026-03-06' });
    // Auckland is 13 hours ahead.
    for (const day of ['2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05']) {
      await logHours(admin, taskId, day, '10', '11');
      await logHours(admin, taskId, day, '11', '12');
    }
    expect((await ratesOf(admin, taskId)).toReversed()).toEqual([null, 100, 100, 100, 100, 200, 200, null]);
  });

  test('stays when rates change, and is found again only for another task, person, project or day', async () => {
    const { admin, grace, taskId, projectId } = await start();
    const other = await addTask(admin, projectId);
    await setRate(admin, 100);
    const { _id } = (await logHours(admin, taskId, monday)).body;
    await setRate(admin, 200);
    const put = async (fields: object) => (await admin.put(`/tasklogs/${_id}/`, fields)).body.charge;
    expect(await put({ description: 'Corrected', endTime: `${monday}T12:00:00Z` })).toEqual({
      hourlyRate: eur(100),
      amount: eur(300),
    });
    expect(await put({ startTime: `${monday}T10:00:00Z` })).toMatchObject({ hourlyRate: eur(100), amount: eur(200) });
    expect(await put({ billable: false })).toBeNull();
    expect(await put({ billable: true })).toMatchObject({ hourlyRate: eur(200) });
    for (const [rate, fields] of [
      [300, { taskId: other }],
      [400, { userId: grace.employeeId }],
      [500, { startTime: '2026-03-03T10:00:00Z', endTime: '2026-03-03T11:00:00Z' }],
    ] as const) {
      await setRate(admin, rate);
      expect(await put(fields)).toMatchObject({ hourlyRate: eur(rate) });
    }
    await setRate(admin, 600);
    const { projectId: target } = await startWork(admin);
    await admin.patch(`/api/tasks/${other}/`, { projectId: target });
    expect(await ratesOf(admin, other)).toEqual([600]);
    expect((await admin.get(`/api/projects/${projectId}/`)).body.amounts).toEqual([]);
    expect((await admin.get(`/api/projects/${target}/`)).body.amounts).toEqual([eur(600)]);
  });

  test('is also that of bulk entries and of stopped timers, and of billable time alone', async () => {
    const { admin, grace, taskId, projectId } = await start();
    await setRate(admin, 3600);
    expect((await admin.patch(`/api/projects/${projectId}/`, { billable: false })).body).toMatchObject({
      billable: false,
    });
    const userId = admin.employeeId;
    const times = (hour: string) => ({ startTime: `${monday}T${hour}:00:00Z`, endTime: `${monday}T${hour}:00:01.4Z` });
    const { body } = await admin.post(`/tasklogs/bulk/create/${userId}/`, [
      { taskId, userId, ...times('08') },
      { taskId, userId, ...times('09'), billable: true },
    ]);
    expect(body.created).toMatchObject([
      { billable: false, charge: null },
      { billable: true, charge: { hourlyRate: eur(3600), amount: eur(1) } },
    ]);
    await admin.patch(`/api/projects/${projectId}/`, { billable: true });
    await grace.post('/api/tasklogs/timer/start/', { taskId });
    service.clock.advance({ hours: 2 });
    expect((await grace.post('/api/tasklogs/timer/stop/', {})).body).toMatchObject({ billable: true, charge: null });
    expect((await admin.get(`/api/projects/${projectId}/`)).body.amounts).toEqual([eur(7201)]);
  });

  test('is shown to admins alone, also where it is an event', async () => {
    const { admin, grace, taskId, projectId } = await start();
    const leader = await service.addEmployee(admin, { isTeamLeader: true });
    await setRate(admin, 100);
    await logHours(admin, taskId, monday);
    for (const actor of [grace, leader]) {
      expect((await logsOf(actor, taskId))[0]).toMatchObject({ billable: true, charge: null });
      const project = (await actor.get(`/api/projects/${projectId}/`)).body;
      expect(project).toMatchObject({ billable: true, budget: null, amounts: null });
      expect((await actor.get(`/api/projects/company/${admin.companyId}/`)).body.results).toEqual([project]);
      const sheet = `/api/timesheets/${admin.companyId}/?from=${monday}&to=${monday}&amounts=true`;
      expect(errorOf(await actor.get(sheet))).toMatchObject({ status: 403, code: 'ADMIN_REQUIRED' });
      for (const call of [
        actor.get(`/api/rates/${admin.companyId}/`),
        setRate(actor, 1),
        actor.delete(`/api/rates/${admin.companyId}/1/`),
        apply(actor),
        actor.post('/api/projects/', { name: 'Loom', budget: eur(1) }),
      ])
        expect(errorOf(await call)).toMatchObject({ status: 403, code: 'ADMIN_REQUIRED' });
    }
    expect(errorOf(await leader.patch(`/api/projects/${projectId}/`, { budget: null }))).toMatchObject({ status: 403 });
    await service.drain();
    const events = await db.selectFrom('events').where('company_id', '=', admin.companyId).select('payload').execute();
    expect(events).not.toEqual([]);
    expect(JSON.stringify(events)).not.toMatch(/charge|hourlyRate|budget|amounts|EUR/);
  });
});

describe('the rates of a company', () => {
  test('are listed, the newest first, replaced for the same subject and day, and deleted', async () => {
    const { admin, taskId, projectId } = await start();
    const first = (await setRate(admin, 100)).body;
    const second = (await setRate(admin, 200, { project_id: projectId, currency: 'JPY' })).body;
    const third = (await setRate(admin, 0, { task_id: taskId })).body;
    expect((await setRate(admin, 150)).body).toEqual({ ...first, hourlyRate: eur(150) });
    const list = async (query = '') => (await admin.get(`/api/rates/${admin.companyId}/${query}`)).body;
    expect(await list()).toEqual({ results: [third, second, { ...first, hourlyRate: eur(150) }], nextCursor: null });
    expect((await list(`?project_id=${projectId}`)).results).toEqual([second]);
    expect((await list(`?task_id=${taskId}`)).results).toEqual([third]);
    expect((await admin.delete(`/api/rates/${admin.companyId}/${third._id}/`)).body).toEqual({ success: true });
    expect((await list()).results).toHaveLength(2);
    expect((await admin.delete(`/api/rates/${admin.companyId}/${third._id}/`)).status).toBe(404);
  });

  test('are read page by page', async () => {
    const { admin } = await start();
    for (let day = 0; day < 101; day += 1)
      await setRate(admin, day, { validFrom: new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10) });
    const first = (await admin.get(`/api/rates/${admin.companyId}/`)).body;
    const second = (await admin.get(`/api/rates/${admin.companyId}/?cursor=${first.nextCursor}`)).body;
    expect([first.results.length, second.results.length, second.nextCursor]).toEqual([100, 1, null]);
    expect(second.results[0].hourlyRate).toEqual(eur(0));
  });

  test('name what is wrong with them, and are those of one company', async () => {
    const { admin, taskId, projectId } = await start();
    const other = await start();
    const rateId = (await setRate(admin, 100)).body._id;
    const bad = async (answer: Promise<Answer>) => errorOf(await answer).issues;
    expect(await bad(setRate(admin, -1))).toEqual(['hourlyRate.minorUnits']);
    expect(await bad(setRate(admin, 1.5))).toEqual(['hourlyRate.minorUnits']);
    expect(await bad(setRate(admin, 10_000_000_001))).toEqual(['hourlyRate.minorUnits']);
    expect(await bad(setRate(admin, 1, { currency: 'eur' }))).toEqual(['hourlyRate.currency']);
    expect(await bad(setRate(admin, 1, { currency: 'EUR\0' }))).toEqual(['hourlyRate.currency']);
    expect(await bad(setRate(admin, 1, { validFrom: '2026-02-30' }))).toEqual(['validFrom']);
    expect(await bad(setRate(admin, 1, { task_id: taskId, project_id: projectId }))).toEqual(['project_id']);
    expect(await bad(setRate(admin, 1, { task_id: taskId, employee_id: admin.employeeId }))).toEqual(['employee_id']);
    expect(await bad(setRate(admin, 1, { task_id: other.taskId }))).toEqual(['task_id']);
    expect(await bad(setRate(admin, 1, { project_id: other.projectId }))).toEqual(['project_id']);
    expect(await bad(setRate(admin, 1, { employee_id: other.grace.employeeId }))).toEqual(['employee_id']);
    expect(await bad(apply(admin, { to: '2026-02-28' }))).toEqual(['to']);
    expect(await bad(apply(admin, { project_id: other.projectId }))).toEqual(['project_id']);
    expect(await bad(apply(admin, { dryRun: undefined }))).toEqual(['dryRun']);
    for (const call of [
      other.admin.get(`/api/rates/${admin.companyId}/`),
      other.admin.put(`/api/rates/${admin.companyId}/`, { validFrom: monday, hourlyRate: null }),
      other.admin.delete(`/api/rates/${admin.companyId}/${rateId}/`),
      other.admin.delete(`/api/rates/${other.admin.companyId}/${rateId}/`),
    ])
      expect((await call).status).toBe(404);
    expect((await admin.get(`/api/rates/${admin.companyId}/`)).body.results).toMatchObject([{ _id: rateId }]);
    await logHours(other.admin, other.taskId, monday);
    expect(await ratesOf(other.admin, other.taskId)).toEqual([null]);
  });

  test('that 64 set at once are one', async () => {
    const { admin } = await start();
    const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => setRate(admin, index)));
    expect(answers.map(({ status }) => status)).toEqual(Array(64).fill(200));
    expect(new Set(answers.map(({ body }) => body._id)).size).toBe(1);
    expect((await admin.get(`/api/rates/${admin.companyId}/`)).body.results).toHaveLength(1);
  });
});

describe('giving stored logs the rates of today', () => {
  test('says what it would change, changes it, and changes nothing the second time', async () => {
    const { admin, grace, taskId, projectId } = await start();
    await logHours(admin, taskId, monday);
    await logHours(grace, taskId, monday);
    await logHours(grace, taskId, '2026-04-01');
    await setRate(admin, 100);
    const changes = { logs: 2, changed: 2, before: [], after: [eur(200)] };
    expect((await apply(admin, { dryRun: true })).body).toEqual({ dryRun: true, ...changes });
    expect(await ratesOf(admin, taskId)).toEqual([null, null, null]);
    const mine = { employee_id: grace.employeeId };
    expect((await apply(admin, mine)).body).toEqual({
      dryRun: false,
      ...changes,
      logs: 1,
      changed: 1,
      after: [eur(100)],
    });
    expect((await apply(admin)).body).toMatchObject({ logs: 2, changed: 1 });
    expect((await apply(admin)).body).toEqual({ dryRun: false, logs: 2, changed: 0, before: [], after: [] });
    await setRate(admin, 250, { currency: 'JPY' });
    expect((await apply(admin)).body).toMatchObject({
      before: [eur(200)],
      after: [{ minorUnits: 500, currency: 'JPY' }],
    });
    expect((await admin.get(`/api/projects/${projectId}/`)).body.amounts).toEqual([
      { minorUnits: 500, currency: 'JPY' },
    ]);
    expect((await ratesOf(admin, taskId))[0]).toBeNull();
    const { body } = await admin.get(`/api/audit/company/${admin.companyId}/?operation=rates.applyToLogs`);
    expect(body.results[0]).toMatchObject({ changes: [{ event: 'rate.applied', after: { changed: 2 } }] });
    const settings = await admin.get(`/api/audit/company/${admin.companyId}/?operation=rates.set`);
    expect(settings.body.results[0].changes).toMatchObject([
      { before: { hourlyRate: eur(100) }, after: { hourlyRate: { minorUnits: 250, currency: 'JPY' } } },
    ]);
  });

  test('leaves approved time alone: nothing changes where a log of it would', async () => {
    const { admin, grace, taskId } = await start();
    await setPolicy(admin, { requireApproval: true, weekStart: 'monday' });
    await logHours(grace, taskId, monday);
    await logHours(grace, taskId, '2026-03-10');
    const period = (await submit(grace)).body._id;
    await setRate(admin, 100);
    expect((await apply(admin, { to: '2026-03-08' })).body).toMatchObject({ changed: 1 });
    await admin.post('/api/timesheet-periods/decide/', { period_ids: [period], decision: 'approve' });
    expect((await apply(admin)).body).toMatchObject({ logs: 2, changed: 1 });
    await setRate(admin, 200);
    for (const dryRun of [true, false]) {
      const refused = await apply(admin, { dryRun });
      expect(errorOf(refused)).toMatchObject({ status: 409, code: 'PERIOD_LOCKED' });
      expect(refused.body.issues).toEqual([{ path: [], message: `${monday} is locked`, code: 'locked' }]);
      // Nobody can override this one.
      expect(refused.body.detail).toBe(
        `The time of these days is approved and keeps its rates: reopen the period first. Locked: ${monday}.`,
      );
    }
    expect(await ratesOf(admin, taskId)).toEqual([100, 100]);
    expect((await apply(admin, { from: '2026-03-09' })).body).toMatchObject({ logs: 1, changed: 1 });
    expect(await ratesOf(admin, taskId)).toEqual([200, 100]);
  });

  test('by 16 at once, while logs are written, adds up', async () => {
    const { admin, grace, taskId, projectId } = await start();
    for (const hour of ['08', '09', '10']) await logHours(grace, taskId, monday, hour, '11');
    await setRate(admin, 100);
    const answers = await Promise.all([
      ...Array.from({ length: 16 }, () => apply(admin)),
      ...Array.from({ length: 16 }, (_, index) =>
        logHours(admin, taskId, monday, '12', `${13 + (index % 8)}`, { description: `${index}` }),
      ),
    ]);
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    const logs = await logsOf(admin, taskId);
    const sum = logs.reduce(
      (total: number, log: { charge: { amount: { minorUnits: number } } }) => total + log.charge.amount.minorUnits,
      0,
    );
    expect((await admin.get(`/api/projects/${projectId}/`)).body.amounts).toEqual([eur(sum)]);
  });
});

describe('a project', () => {
  test('tells its admins once when it reaches 50 and 80 % of its hours, and when it exceeds them', async () => {
    const { admin, taskId, projectId } = await start();
    await admin.patch(`/api/projects/${projectId}/`, { allocatedHours: 10, name: 'Engine' });
    const logs: number[] = [];
    const log = async (day: number, hours: number) =>
      logs.push((await logHours(admin, taskId, `2026-03-0${day}`, '08', `${8 + hours}`.padStart(2, '0'))).body._id);
    await log(1, 4);
    expect(await notices(admin, projectId)).toEqual([]);
    await log(2, 1);
    await log(3, 1);
    await log(4, 2);
    await log(5, 2);
    const half = 'Engine has used 50 % of its hours: Engine has 5 hours logged, of 10 hours.';
    const most = 'Engine has used 80 % of its hours: Engine has 8 hours logged, of 10 hours.';
    expect(await notices(admin, projectId)).toEqual([half, most].toSorted());
    await log(6, 1);
    const over = 'Engine is over its allocated hours: Engine has 11 hours logged, and 10 allocated.';
    expect(await notices(admin, projectId)).toEqual([half, most, over].toSorted());
    for (const id of logs.slice(-3)) await admin.delete(`/api/tasklogs/delete/${id}/`);
    await admin.delete(`/api/tasklogs/delete/${logs[2]}/`);
    await log(7, 3);
    expect(await notices(admin, projectId)).toEqual([half, most, over, most].toSorted());
  });

  test('does the same for its budget, in its currency, also where the budget or the rate changes', async () => {
    const { admin, taskId, projectId } = await start();
    const patch = (fields: object) => admin.patch(`/api/projects/${projectId}/`, fields);
    expect((await patch({ name: 'Engine', budget: eur(10_000) })).body).toMatchObject({
      budget: eur(10_000),
      amounts: [],
    });
    await setRate(admin, 5_000, { currency: 'USD' });
    await logHours(admin, taskId, '2026-03-01', '08', '20');
    expect(await notices(admin, projectId)).toEqual([]);
    await setRate(admin, 5_000);
    await Promise.all(
      Array.from({ length: 4 }, (_, hour) => logHours(admin, taskId, '2026-03-02', `1${hour}`, `1${hour + 1}`)),
    );
    const half = 'Engine has used 50 % of its budget: Engine has 50.00 EUR charged, of 100.00 EUR.';
    const full = 'Engine has used 100 % of its budget: Engine has 100.00 EUR charged, of 100.00 EUR.';
    const over = 'Engine is over its budget: Engine has 150.00 EUR charged, of 100.00 EUR.';
    expect(await notices(admin, projectId)).toEqual([half, full, over].toSorted());
    await patch({ budget: eur(100_000) });
    await patch({ budget: eur(30_000) });
    await patch({ description: 'Nothing new' });
    const again = 'Engine has used 66 % of its budget: Engine has 200.00 EUR charged, of 300.00 EUR.';
    expect(await notices(admin, projectId)).toEqual([half, full, over, again].toSorted());
    await setRate(admin, 6_000);
    await apply(admin, { from: '2026-03-02', to: '2026-03-02' });
    const most = 'Engine has used 80 % of its budget: Engine has 240.00 EUR charged, of 300.00 EUR.';
    expect(await notices(admin, projectId)).toContain(most);
    await patch({ budget: null });
    expect(await notices(admin, projectId)).toHaveLength(5);
    expect(errorOf(await patch({ budget: eur(-1) })).issues).toEqual(['budget.minorUnits']);
  });

  test('shows its amounts in timesheets too, with a column for each currency in a file', async () => {
    const { admin, taskId } = await start();
    await setRate(admin, 9_550);
    await logHours(admin, taskId, monday);
    await setRate(admin, 100, { currency: 'JPY' });
    await logHours(admin, taskId, monday, '11', '12');
    await logHours(admin, taskId, monday, '13', '14', { billable: false });
    const path = `/api/timesheets/${admin.companyId}/?from=${monday}&to=${monday}&groupBy=employee`;
    const amounts = [eur(9_550), { minorUnits: 100, currency: 'JPY' }];
    expect((await admin.get(`${path}&amounts=true`)).body).toMatchObject({
      rows: [{ userId: admin.employeeId, seconds: 3 * 3600, amounts }],
      totalSeconds: 3 * 3600,
      totalAmounts: amounts,
    });
    expect((await admin.get(path)).body.rows[0]).not.toHaveProperty('amounts');
    expect((await admin.get(`${path}&format=csv&amounts=true`)).body).toBe(
      [
        'userId,name,seconds,hours,amount EUR,amount JPY',
        `${admin.employeeId},${admin.name},10800,3,95.5,100`,
        'Total,,10800,3,95.5,100',
        '',
      ].join('\r\n'),
    );
    expect((await admin.get(`${path}&format=csv`)).body).toContain('userId,name,seconds,hours\r\n');
  });
});
