import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { errorOf, type Actor, type Answer } from '../../support/actor.ts';
import { logHours, monday, setPolicy, submit } from '../../support/periods.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

/* What a locked day refuses, to whom, and how an admin gets past it. */

const service = await startService();
const { clock } = service;
const { db } = service.database;
const locked = { status: 409, code: 'PERIOD_LOCKED', issues: [''] };
const dayMs = 86_400_000;

const logsOf = (companyId: number) =>
  db.selectFrom('task_logs').where('company_id', '=', companyId).selectAll().orderBy('task_log_id').execute();

/** A company whose employee has logged time on a Monday and handed in its week. */
async function startLocked() {
  const admin = await service.registerCompany();
  const grace = await service.addEmployee(admin);
  const work = await startWork(admin);
  const taskLogId: number = (await logHours(grace, work.taskId, monday)).body._id;
  expect((await submit(grace)).body).toMatchObject({ status: 'approved', totalSeconds: 3600 });
  return { admin, grace, taskLogId, ...work };
}

/** Expects that a call is refused for this day and that no log has changed. */
async function expectLocked(companyId: number, call: () => Promise<Answer>, day = monday): Promise<void> {
  const before = await logsOf(companyId);
  const answer = await call();
  expect(errorOf(answer)).toEqual(locked);
  expect(answer.body.detail).toMatch(new RegExp(`Locked: ${day}\\.$`));
  expect(answer.body.issues).toEqual([{ path: [], message: `${day} is locked`, code: 'locked' }]);
  expect(await logsOf(companyId)).toEqual(before);
}

describe('a day of a period that was handed in', () => {
  test('takes no log, gives none away, and lets none change', async () => {
    const { admin, grace, taskId, taskLogId } = await startLocked();
    const { companyId } = admin;
    const colleague = await service.addEmployee(admin);
    const update = (fields: object) => admin.put(`/tasklogs/${taskLogId}/`, fields);
    await expectLocked(companyId, () => logHours(grace, taskId, monday, '11', '12'));
    await expectLocked(companyId, () => update({ endTime: `${monday}T09:30:00Z` }));
    await expectLocked(companyId, () => update({ startTime: '2026-02-27T09:00:00Z', endTime: '2026-02-27T10:00:00Z' }));
    await expectLocked(companyId, () => update({ userId: colleague.employeeId }));
    await expectLocked(companyId, () => update({ description: 'Something else' }));
    await expectLocked(companyId, () => admin.delete(`/api/tasklogs/delete/${taskLogId}/`));
    expect((await update({ startTime: `${monday}T09:00:00Z` })).status).toBe(200);

    const outside = (await logHours(grace, taskId, '2026-03-09')).body._id;
    await expectLocked(
      companyId,
      () => admin.put(`/tasklogs/${outside}/`, { startTime: '2026-03-08T23:30:00Z', endTime: '2026-03-09T00:30:00Z' }),
      '2026-03-08',
    );
    expect((await logHours(colleague, taskId, monday)).status).toBe(200);
  });

  test('is opened again by a withdrawal or an admin, and by nothing else', async () => {
    const { admin, grace, taskId } = await startLocked();
    const [period] = (await grace.get(`/api/timesheet-periods/company/${admin.companyId}/`)).body.results;
    await admin.post('/api/timesheet-periods/reopen/', { period_id: period._id, reason: 'More came' });
    expect((await logHours(grace, taskId, monday, '11', '12')).status).toBe(200);
    await submit(grace);
    await expectLocked(admin.companyId, () => logHours(grace, taskId, monday, '13', '14'));
  });

  test('keeps a task with time on it in its project, and lets it be deleted with its time kept', async () => {
    const { admin, grace, taskId, projectId } = await startLocked();
    const other = await startWork(admin);
    await expectLocked(admin.companyId, () => admin.patch(`/api/tasks/${taskId}/`, { projectId: other.projectId }));
    expect((await admin.get(`/api/tasks/${taskId}/`)).body.projectId).toBe(projectId);
    expect((await admin.patch(`/api/tasks/${taskId}/`, { title: 'Another name' })).status).toBe(200);
    const free = await addTask(admin, projectId);
    expect((await admin.patch(`/api/tasks/${free}/`, { projectId: other.projectId })).status).toBe(200);

    const before = await logsOf(admin.companyId);
    const sheet = () =>
      admin.get(`/api/timesheets/${admin.companyId}/?from=${monday}&to=${monday}&userId=${grace.employeeId}`);
    const rows = (await sheet()).body;
    expect((await admin.delete(`/api/tasks/${taskId}/`)).status).toBe(200);
    expect((await admin.delete(`/api/projects/${projectId}/`)).status).toBe(200);
    expect(await logsOf(admin.companyId)).toEqual(before);
    expect((await sheet()).body).toEqual(rows);
  });

  test('refuses a whole bulk, and names each entry on it by its index', async () => {
    const { admin, grace, taskId } = await startLocked();
    const before = await logsOf(admin.companyId);
    const entry = (start: string, end: string) => ({
      taskId,
      userId: grace.employeeId,
      startTime: start,
      endTime: end,
    });
    const answer = await grace.post(`/tasklogs/bulk/create/${grace.employeeId}/`, [
      entry('2026-03-09T09:00:00Z', '2026-03-09T10:00:00Z'),
      entry('2026-03-08T23:00:00Z', '2026-03-09T01:00:00Z'),
      entry('2026-03-09T00:00:00Z', '2026-03-09T01:00:00Z'),
      entry('2026-03-04T09:00:00+02:00', '2026-03-04T10:00:00+02:00'),
    ]);
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      code: 'PERIOD_LOCKED',
      detail: expect.stringContaining('Locked: 2026-03-04, 2026-03-08.'),
      issues: [
        { path: [1], message: '2026-03-08 is locked', code: 'locked' },
        { path: [3], message: '2026-03-04 is locked', code: 'locked' },
      ],
    });
    expect(await logsOf(admin.companyId)).toEqual(before);
    const again = await grace.post(`/tasklogs/bulk/create/${grace.employeeId}/`, [
      entry(`${monday}T09:00:00Z`, `${monday}T10:00:00Z`),
    ]);
    expect(again.body).toMatchObject({ created: [], skipped: [{ index: 0, reason: 'duplicate' }] });
  });

  test('is kept by the database itself, whoever writes', async () => {
    const { admin, taskLogId } = await startLocked();
    for (const change of [{ description: 'Past the service' }, { manual_add: false }]) {
      const changed = db
        .updateTable('task_logs')
        .set(change)
        .where('company_id', '=', admin.companyId)
        .where('task_log_id', '=', taskLogId)
        .execute();
      await expect(changed).rejects.toMatchObject({ code: 'WM001' });
    }
    const removed = db.deleteFrom('task_logs').where('company_id', '=', admin.companyId).execute();
    await expect(removed).rejects.toMatchObject({ code: 'WM001' });
  });
});

describe('an override', () => {
  const reason = 'Agreed with the customer';

  test('lets an admin create, change and delete a log, and the audit log has the reason', async () => {
    const { admin, grace, taskId, taskLogId } = await startLocked();
    const past = { override: true, reason };
    const made = await logHours(admin, taskId, monday, '11', '12', { employee_id: grace.employeeId, ...past });
    expect(made).toMatchObject({ status: 200 });
    expect((await admin.put(`/tasklogs/${taskLogId}/`, { description: 'Gears', ...past })).status).toBe(200);
    expect((await admin.send('DELETE', `/api/tasklogs/delete/${made.body._id}/`, past)).status).toBe(200);
    const { body } = await admin.get(`/api/audit/company/${admin.companyId}/?subject=task_log`);
    const changes = body.results
      .flatMap((row: { changes: object[] }) => row.changes)
      .filter((change: { event: string }) => change.event === 'period.overridden');
    expect(changes.map((one: { id: number; after: object }) => [one.id, one.after])).toEqual([
      [made.body._id, { reason }],
      [taskLogId, { reason }],
      [made.body._id, { reason }],
    ]);
    const [period] = (await grace.get(`/api/timesheet-periods/company/${admin.companyId}/`)).body.results;
    expect(period.totalSeconds).toBe(3600);
    await expectLocked(admin.companyId, () => logHours(grace, taskId, monday, '13', '14'));
  });

  test('needs an admin and a reason, and is nothing without `override`', async () => {
    const { admin, grace, taskId, taskLogId } = await startLocked();
    const leader = await service.addEmployee(admin, { isTeamLeader: true });
    for (const actor of [leader, grace]) {
      const answer = await logHours(actor, taskId, '2026-03-09', '09', '10', { override: true, reason });
      expect(errorOf(answer)).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
    }
    const unreasoned = await admin.put(`/tasklogs/${taskLogId}/`, { description: 'Gears', override: true });
    expect(errorOf(unreasoned)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['reason'] });
    await expectLocked(admin.companyId, () => admin.put(`/tasklogs/${taskLogId}/`, { description: 'Gears', reason }));
    await expectLocked(admin.companyId, () =>
      admin.put(`/tasklogs/${taskLogId}/`, { description: 'Gears', override: false, reason }),
    );
  });

  test('of a period that waits for approval is in the snapshot of its approval', async () => {
    const { admin, grace, taskId } = await startLocked();
    await setPolicy(admin, { requireApproval: true });
    const { body: period } = await submit(grace, grace.employeeId, '2026-03-09');
    expect(period.snapshot).toEqual([]);
    await logHours(admin, taskId, '2026-03-09', '09', '11', { employee_id: grace.employeeId, override: true, reason });
    await admin.post('/api/timesheet-periods/decide/', { period_ids: [period._id], decision: 'approve' });
    const { body } = await grace.get(`/api/timesheet-periods/company/${admin.companyId}/?from=2026-03-09`);
    expect(body.results[0]).toMatchObject({ status: 'approved', totalSeconds: 7200 });
  });
});

describe('a lock by age', () => {
  const today = Date.parse(new Date().toISOString().slice(0, 10));
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  /** The last day of the week from Monday that ended before this one. */
  const lastSunday = today - (((new Date(today).getUTCDay() + 6) % 7) + 1) * dayMs;
  const sinceSunday = (today - lastSunday) / dayMs;

  test('begins when more than lockAfterDays and graceDays have passed since the end of the week', async () => {
    const admin = await service.registerCompany();
    const { taskId } = await startWork(admin);
    const early = dayOf(lastSunday - 6 * dayMs);
    await setPolicy(admin, { lockAfterDays: sinceSunday - 1, graceDays: 1 });
    expect((await logHours(admin, taskId, early)).status).toBe(200);
    await expectLocked(
      admin.companyId,
      () => logHours(admin, taskId, dayOf(lastSunday - 7 * dayMs)),
      dayOf(lastSunday - 7 * dayMs),
    );
    const { body } = await setPolicy(admin, { graceDays: 0 });
    expect(body.lockedBefore).toBe(dayOf(lastSunday + dayMs));
    await expectLocked(admin.companyId, () => logHours(admin, taskId, early, '11', '12'), early);
    await expectLocked(admin.companyId, () => logHours(admin, taskId, dayOf(lastSunday)), dayOf(lastSunday));
    expect((await logHours(admin, taskId, dayOf(lastSunday + dayMs), '00', '01')).status).toBe(200);
    await setPolicy(admin, { lockAfterDays: null });
    expect((await logHours(admin, taskId, early, '11', '12')).status).toBe(200);
  });

  test('counts from the end of the month where periods are months', async () => {
    const admin = await service.registerCompany();
    const { taskId } = await startWork(admin);
    const first = Date.parse(`${dayOf(today).slice(0, 7)}-01`);
    const sinceMonth = (today - first) / dayMs;
    await setPolicy(admin, { period: 'month', lockAfterDays: sinceMonth + 1 });
    expect((await logHours(admin, taskId, dayOf(first - dayMs))).status).toBe(200);
    const { body } = await setPolicy(admin, { lockAfterDays: sinceMonth });
    expect(body.lockedBefore).toBe(dayOf(first));
    await expectLocked(
      admin.companyId,
      () => logHours(admin, taskId, dayOf(first - dayMs), '11', '12'),
      dayOf(first - dayMs),
    );
    expect((await logHours(admin, taskId, dayOf(first), '00', '01')).status).toBe(200);
  });
});

describe('a timer', () => {
  const dayOf = (moment: Date) => moment.toISOString().slice(0, 10);

  /** Locks the days of an employee up to that of the moment. */
  const lockUntil = (actor: Actor, moment: Date) =>
    sql`
      insert into timesheet_periods (
        company_id, employee_id, first_day, last_day, state, submitted_by_id, submitted_at, expected_minutes, snapshot
      )
      values (
        ${actor.companyId}, ${actor.employeeId}, ${dayOf(moment)}::date - 10, ${dayOf(moment)}::date, 'approved',
        ${actor.employeeId}, now(), 0, '[]'
      )`.execute(db);

  /** Somebody whose timer has run for so long, and was started on a day that is locked since. */
  async function startLockedTimer(hours: number) {
    const { admin, grace, taskId } = await startLocked();
    const startTime = new Date(clock.now().getTime() - hours * 3_600_000);
    await db
      .insertInto('timers')
      .values({ company_id: admin.companyId, employee_id: grace.employeeId, task_id: taskId, start_time: startTime })
      .execute();
    await lockUntil(grace, startTime);
    return { admin, grace, taskId };
  }
  const timerOf = async (actor: Actor) => (await actor.get(`/api/tasklogs/timer/${actor.employeeId}/`)).body;
  const title = 'Your timer ended, and its time was not logged';

  async function titlesOf(actor: Actor, by = actor): Promise<string[]> {
    await service.drain();
    const rows = await db
      .selectFrom('notifications')
      .where('company_id', '=', by.companyId)
      .where('recipient_id', '=', actor.employeeId)
      .select('title')
      .execute();
    return rows.map((row) => row.title);
  }

  test('that runs on a locked day is not stopped by its owner', async () => {
    const { admin, grace } = await startLockedTimer(1);
    const before = await logsOf(admin.companyId);
    expect(errorOf(await grace.post('/api/tasklogs/timer/stop/'))).toMatchObject({
      status: 409,
      code: 'PERIOD_LOCKED',
    });
    expect(await timerOf(grace)).toMatchObject({ userId: grace.employeeId });
    expect(await logsOf(admin.companyId)).toEqual(before);
  });

  test('that was forgotten on a locked day ends without a log when another is started, and its owner hears of it', async () => {
    const { admin, grace, taskId } = await startLockedTimer(25);
    const before = await logsOf(admin.companyId);
    const started = await grace.post('/api/tasklogs/timer/start/', { taskId });
    expect(started.status).toBe(200);
    expect(await timerOf(grace)).toEqual(started.body);
    expect(await logsOf(admin.companyId)).toEqual(before);
    expect(await titlesOf(grace)).toEqual([title]);
    const { payload } = await db
      .selectFrom('events')
      .where('company_id', '=', admin.companyId)
      .where('type', '=', 'timer.stopped')
      .select('payload')
      .executeTakeFirstOrThrow();
    expect(payload).toMatchObject({ actorId: null, taskLogId: null });
  });

  test('of somebody who leaves ends without a log of a locked day', async () => {
    const { admin, grace } = await startLockedTimer(2);
    const before = await logsOf(admin.companyId);
    expect((await admin.delete(`/api/employees/${grace.employeeId}/`)).status).toBe(200);
    expect(await titlesOf(grace, admin)).toEqual([title]);
    expect(await db.selectFrom('timers').where('company_id', '=', admin.companyId).selectAll().execute()).toEqual([]);
    expect(await logsOf(admin.companyId)).toEqual(before);
  });
});

describe('a timer that nobody stops', () => {
  test('ends by itself after 24 hours without a log of a locked day', async () => {
    const { admin, grace, taskId } = await startLocked();
    expect((await grace.post('/api/tasklogs/timer/start/', { taskId })).status).toBe(200);
    const today = clock.now().toISOString().slice(0, 10);
    await db
      .updateTable('timesheet_periods')
      .set({ first_day: today, last_day: today })
      .where('company_id', '=', admin.companyId)
      .execute();
    const before = await logsOf(admin.companyId);
    clock.advance({ hours: 24, minutes: 1 });
    await service.drain();
    expect(await db.selectFrom('timers').where('company_id', '=', admin.companyId).selectAll().execute()).toEqual([]);
    expect(await logsOf(admin.companyId)).toEqual(before);
    const { body } = await (await service.signIn(grace.email)).get(`/notifications/recipient/${grace.employeeId}/`);
    const { body: task } = await admin.get(`/api/tasks/${taskId}/`);
    expect(body.results[0]).toMatchObject({
      title: 'Your timer ended, and its time was not logged',
      taskId,
      projectId: task.projectId,
    });
  });
});

test('a company without a policy and without periods is not asked about days', async () => {
  const admin = await service.registerCompany();
  const { taskId } = await startWork(admin);
  expect((await logHours(admin, taskId, '2001-01-01')).status).toBe(200);
  const rows = await db.selectFrom('time_policies').where('company_id', '=', admin.companyId).selectAll().execute();
  expect(rows).toEqual([]);
});
