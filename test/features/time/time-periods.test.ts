import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { logHours, monday, setPolicy, submit } from '../../support/periods.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* How periods are handed in, decided on and opened again, and by whom. */

const service = await startService();
const { db } = service.database;
const sunday = '2026-03-08';

const withdraw = (actor: Actor, periodId: number) =>
  actor.post('/api/timesheet-periods/withdraw/', { period_id: periodId });
const decide = (actor: Actor, periodIds: number[], decision = 'approve', note?: string) =>
  actor.post('/api/timesheet-periods/decide/', { period_ids: periodIds, decision, note });
const reopen = (actor: Actor, periodId: number) =>
  actor.post('/api/timesheet-periods/reopen/', { period_id: periodId, reason: 'A day was missing' });
const list = (actor: Actor, query = '') =>
  actor.get(`/api/timesheet-periods/company/${actor.companyId}/${query === '' ? '' : `?${query}`}`);

/** A company that requires approval, with an admin, a leader, an employee, and a task. */
async function startCompany(policy: object = { requireApproval: true }) {
  const admin = await service.registerCompany();
  const leader = await service.addEmployee(admin, { isTeamLeader: true });
  const grace = await service.addEmployee(admin);
  expect((await setPolicy(admin, policy)).status).toBe(200);
  return { admin, leader, grace, ...(await startWork(admin)) };
}

async function titlesOf(actor: Actor): Promise<string[]> {
  await service.drain();
  const { body } = await actor.get(`/notifications/recipient/${actor.employeeId}/?app_type=hr`);
  return body.results.map(({ title }: { title: string }) => title);
}

describe('a policy', () => {
  test('is one that locks nothing by age before it is set, and keeps what a change leaves out', async () => {
    const admin = await service.registerCompany();
    const grace = await service.addEmployee(admin);
    const path = `/api/time-policy/${admin.companyId}/`;
    const first = {
      company_id: admin.companyId,
      period: 'week',
      weekStart: 'monday',
      lockAfterDays: null,
      graceDays: 0,
      approver: 'teamLeader',
      requireApproval: false,
      expectedMinutes: [480, 480, 480, 480, 480, 0, 0],
      lockedBefore: null,
    };
    expect((await grace.get(path)).body).toEqual(first);
    expect((await admin.put(path, {})).body).toEqual(first);
    const rows = () => db.selectFrom('time_policies').where('company_id', '=', admin.companyId).selectAll().execute();
    expect(await rows()).toEqual([]);
    const changed = { ...first, period: 'month', weekStart: 'sunday', requireApproval: true };
    expect((await setPolicy(admin, { period: 'month', weekStart: 'sunday', requireApproval: true })).body).toEqual(
      changed,
    );
    expect((await setPolicy(admin, { approver: 'admin' })).body).toEqual({ ...changed, approver: 'admin' });
    expect((await setPolicy(admin, { lockAfterDays: 30 })).body.lockedBefore).toMatch(/^\d{4}-\d{2}-01$/);
    expect((await setPolicy(admin, { lockAfterDays: null })).body.lockedBefore).toBeNull();
  });

  test('is for admins to change, within bounds, and its changes are in the audit log', async () => {
    const { admin, leader } = await startCompany();
    const path = `/api/time-policy/${admin.companyId}/`;
    expect(errorOf(await leader.put(path, { graceDays: 1 }))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
    for (const [policy, field] of [
      [{ period: 'day' }, 'period'],
      [{ weekStart: 1 }, 'weekStart'],
      [{ lockAfterDays: -1 }, 'lockAfterDays'],
      [{ graceDays: null }, 'graceDays'],
      [{ expectedMinutes: [480] }, 'expectedMinutes'],
      [{ expectedMinutes: [1441, 0, 0, 0, 0, 0, 0] }, 'expectedMinutes.0'],
    ] as const)
      expect(errorOf(await admin.put(path, policy))).toEqual({
        status: 400,
        code: 'VALIDATION_FAILED',
        issues: [field],
      });
    await setPolicy(admin, { graceDays: 4 });
    const { body } = await admin.get(`/api/audit/company/${admin.companyId}/?operation=timePolicies.update`);
    expect(body.results[0].changes).toEqual([
      expect.objectContaining({ event: 'time_policy.updated', before: { grace_days: 0 }, after: { grace_days: 4 } }),
    ]);
  });
});

describe('a period', () => {
  test('is handed in with a snapshot of its time by day and project, and waits for an approver', async () => {
    const { admin, leader, grace, taskId, projectId } = await startCompany();
    const other = await startWork(admin);
    await logHours(grace, taskId, monday);
    await logHours(grace, other.taskId, monday, '10', '12');
    await logHours(grace, taskId, sunday, '22', '23');
    await logHours(grace, taskId, '2026-03-09');
    const { status, body } = await submit(grace);
    expect([status, body]).toEqual([
      200,
      {
        _id: expect.any(Number),
        employee_id: grace.employeeId,
        name: grace.name,
        firstDay: monday,
        lastDay: sunday,
        status: 'submitted',
        submittedBy: grace.employeeId,
        submittedAt: expect.any(String),
        decidedBy: null,
        decidedAt: null,
        note: null,
        expectedMinutes: 2400,
        totalSeconds: 4 * 3600,
        snapshot: [
          { date: monday, projectId, seconds: 3600 },
          { date: monday, projectId: other.projectId, seconds: 7200 },
          { date: sunday, projectId, seconds: 3600 },
        ],
      },
    ]);
    expect(errorOf(await submit(grace))).toEqual({ status: 409, code: 'PERIOD_SUBMITTED' });
    expect((await list(grace)).body).toEqual({ results: [body], nextCursor: null });
    expect(await titlesOf(leader)).toEqual([`Time of ${grace.name} waits for approval`]);
    expect(await titlesOf(admin)).toEqual([`Time of ${grace.name} waits for approval`]);
    expect(await titlesOf(grace)).toEqual([]);
  });

  test('is approved or rejected with a result for each, and its employee is notified', async () => {
    const { admin, leader, grace, taskId } = await startCompany();
    const [own, graces] = [(await submit(leader)).body, (await submit(grace)).body];
    const answer = await decide(leader, [own._id, graces._id, graces._id], 'reject', 'Monday is missing');
    expect(answer.body).toEqual({
      results: [
        { period_id: own._id, result: 'own_time' },
        { period_id: graces._id, result: 'rejected' },
        { period_id: graces._id, result: 'rejected' },
      ],
    });
    expect((await list(grace)).body.results).toEqual([
      {
        ...graces,
        status: 'rejected',
        decidedBy: leader.employeeId,
        decidedAt: expect.any(String),
        note: 'Monday is missing',
      },
    ]);
    expect(await titlesOf(grace)).toEqual(['Your time was rejected']);
    expect((await decide(leader, [graces._id])).body.results).toEqual([
      { period_id: graces._id, result: 'not_submitted' },
    ]);

    expect((await logHours(grace, taskId, monday)).status).toBe(200);
    const again = await submit(grace);
    expect(again.body).toMatchObject({ _id: graces._id, status: 'submitted', decidedBy: null, note: null });
    expect(
      (await decide(admin, [graces._id, own._id])).body.results.map((one: { result: string }) => one.result),
    ).toEqual(['approved', 'approved']);
    expect((await list(grace, 'status=approved')).body.results).toEqual([
      { ...again.body, status: 'approved', decidedBy: admin.employeeId, decidedAt: expect.any(String) },
    ]);
    expect(await titlesOf(grace)).toEqual(['Your time was approved', 'Your time was rejected']);
  });

  test('of the only admin is decided by that admin, and of one of two by the other', async () => {
    const admin = await service.registerCompany();
    await setPolicy(admin, { requireApproval: true, approver: 'admin' });
    const period = (await submit(admin)).body;
    expect((await decide(admin, [period._id])).body.results[0].result).toBe('approved');
    const second = await service.addEmployee(admin, { isAdmin: true });
    const next = (await submit(admin, admin.employeeId, '2026-03-09')).body;
    expect((await decide(admin, [next._id])).body.results[0].result).toBe('own_time');
    expect((await decide(second, [next._id])).body.results[0].result).toBe('approved');
  });

  test('is decided by those whom the policy names', async () => {
    const { admin, leader, grace } = await startCompany({ requireApproval: true, approver: 'admin' });
    const period = (await submit(grace)).body;
    expect(errorOf(await decide(leader, [period._id]))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(await titlesOf(leader)).toEqual([]);
    expect(await titlesOf(admin)).toHaveLength(1);
    await setPolicy(admin, { approver: 'teamLeader' });
    expect(errorOf(await decide(grace, [period._id]))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await decide(leader, [period._id])).body.results[0].result).toBe('approved');
  });

  test('is decided together with up to 499 others, all or none of them known', async () => {
    const { admin, leader, grace } = await startCompany();
    const neighbour = await startCompany();
    const theirs = (await submit(neighbour.grace)).body._id;
    const first = (await submit(grace)).body._id;
    for (const ids of [[], Array.from({ length: 501 }, () => first)])
      expect(errorOf(await decide(leader, ids))).toEqual({
        status: 400,
        code: 'VALIDATION_FAILED',
        issues: ['period_ids'],
      });
    expect(errorOf(await decide(leader, [first, theirs]))).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['period_ids.1'],
    });
    expect((await list(grace, 'status=submitted')).body.results).toHaveLength(1);
    const copies = await db
      .insertInto('timesheet_periods')
      .columns([
        'company_id',
        'employee_id',
        'first_day',
        'last_day',
        'state',
        'submitted_by_id',
        'submitted_at',
        'expected_minutes',
        'snapshot',
      ])
      .expression(({ selectFrom }) =>
        selectFrom('timesheet_periods as p')
          .innerJoin(sql<{ n: number }>`generate_series(1, 499)`.as<'g'>(sql`g (n)`), (join) => join.onTrue())
          .where('p.period_id', '=', first)
          .where('p.company_id', '=', admin.companyId)
          .select([
            'p.company_id',
            'p.employee_id',
            sql<string>`p.first_day - 7 * g.n`.as('first_day'),
            sql<string>`p.last_day - 7 * g.n`.as('last_day'),
            'p.state',
            'p.submitted_by_id',
            'p.submitted_at',
            'p.expected_minutes',
            'p.snapshot',
          ]),
      )
      .returning('period_id')
      .execute();
    const ids = [first, ...copies.map((row) => row.period_id)];
    const { body } = await decide(leader, ids);
    expect(body.results).toEqual(ids.map((period_id) => ({ period_id, result: 'approved' })));
    await service.drain();
    const told = await db
      .selectFrom('notifications')
      .where('recipient_id', '=', grace.employeeId)
      .where('company_id', '=', admin.companyId)
      .where('title', '=', 'Your time was approved')
      .select('notification_id')
      .execute();
    expect(told).toHaveLength(500);
    expect((await list(neighbour.admin, 'status=submitted')).body.results).toHaveLength(1);
  });

  test('is approved at once where no approval is required', async () => {
    const { grace, admin } = await startCompany({ requireApproval: false });
    expect((await submit(grace)).body).toMatchObject({
      status: 'approved',
      decidedBy: null,
      decidedAt: expect.any(String),
    });
    expect(await titlesOf(admin)).toEqual([]);
    expect(await titlesOf(grace)).toEqual([]);
  });

  test('is withdrawn while it waits, and reopened by an admin with a reason that stays', async () => {
    const { admin, leader, grace, taskId } = await startCompany();
    const period = (await submit(grace)).body;
    expect((await withdraw(grace, period._id)).body).toEqual({ ...period, status: 'open' });
    expect(errorOf(await withdraw(grace, period._id))).toEqual({ status: 409, code: 'PERIOD_NOT_SUBMITTED' });
    expect((await logHours(grace, taskId, monday)).status).toBe(200);
    await submit(grace);
    await decide(admin, [period._id]);
    expect(errorOf(await withdraw(grace, period._id))).toEqual({ status: 409, code: 'PERIOD_NOT_SUBMITTED' });
    expect(errorOf(await reopen(leader, period._id))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
    expect(errorOf(await admin.post('/api/timesheet-periods/reopen/', { period_id: period._id }))).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['reason'],
    });
    const reopened = await reopen(admin, period._id);
    expect(reopened.body).toMatchObject({ status: 'open', decidedBy: admin.employeeId, note: 'A day was missing' });
    expect((await reopen(admin, period._id)).body).toEqual(reopened.body);
    expect((await logHours(grace, taskId, monday, '11', '12')).status).toBe(200);
    const { body } = await admin.get(`/api/audit/company/${admin.companyId}/?operation=timesheetPeriods.reopen`);
    expect(body.results.at(-1).changes[0]).toMatchObject({
      event: 'period.reopened',
      after: { note: 'A day was missing' },
    });
  });

  test('is handed in by its employee, a leader or an admin, and begins where the policy says', async () => {
    const { admin, leader, grace } = await startCompany({ requireApproval: true, weekStart: 'sunday' });
    const other = await service.addEmployee(admin);
    expect(errorOf(await submit(other, grace.employeeId, '2026-03-01'))).toEqual({ status: 403, code: 'FORBIDDEN' });
    const wrong = await submit(grace, grace.employeeId, monday);
    expect(errorOf(wrong)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['period_start'] });
    expect(wrong.body.detail).toContain('2026-03-01');
    const future = new Date(service.clock.now().getTime() + 14 * 86_400_000);
    future.setUTCDate(future.getUTCDate() - future.getUTCDay());
    expect(errorOf(await submit(grace, grace.employeeId, future.toISOString().slice(0, 10)))).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['period_start'],
    });
    const period = (await submit(leader, grace.employeeId, '2026-03-01')).body;
    expect(period).toMatchObject({ firstDay: '2026-03-01', lastDay: '2026-03-07', submittedBy: leader.employeeId });
    expect(errorOf(await withdraw(other, period._id))).toEqual({ status: 403, code: 'FORBIDDEN' });
  });

  test('takes the place of open ones of another length, and of none that is locked', async () => {
    const { admin, grace } = await startCompany();
    const week = (await submit(grace)).body;
    await setPolicy(admin, { period: 'month' });
    expect(errorOf(await submit(grace, grace.employeeId, '2026-03-01'))).toEqual({
      status: 409,
      code: 'PERIOD_SUBMITTED',
    });
    await withdraw(grace, week._id);
    const month = await submit(grace, grace.employeeId, '2026-03-01');
    expect(month.body).toMatchObject({ firstDay: '2026-03-01', lastDay: '2026-03-31', expectedMinutes: 22 * 480 });
    expect((await list(grace)).body.results).toEqual([month.body]);
  });

  test('is not handed in while the timer of its employee runs in it', async () => {
    const { grace, taskId } = await startCompany();
    const now = service.clock.now();
    const today = now.toISOString().slice(0, 10);
    const thisMonday = new Date(Date.parse(today) - ((now.getUTCDay() + 6) % 7) * 86_400_000)
      .toISOString()
      .slice(0, 10);
    await grace.post('/api/tasklogs/timer/start/', { taskId });
    expect(errorOf(await submit(grace, grace.employeeId, thisMonday))).toEqual({
      status: 409,
      code: 'PERIOD_TIMER_RUNNING',
    });
    expect((await submit(grace)).status).toBe(200);
    await grace.post('/api/tasklogs/timer/stop/');
    expect((await submit(grace, grace.employeeId, thisMonday)).status).toBe(200);
    const refused = await grace.post('/api/tasklogs/timer/start/', { taskId });
    expect(errorOf(refused)).toMatchObject({ status: 409, code: 'PERIOD_LOCKED' });
    expect(refused.body.detail).toContain(today);
  });

  test('is seen as timesheets are, filtered, and page by page', async () => {
    const { admin, leader, grace } = await startCompany();
    const neighbour = await service.registerCompany();
    const mondays = Array.from({ length: 52 }, (_, week) =>
      new Date(Date.parse('2025-01-06') + week * 7 * 86_400_000).toISOString().slice(0, 10),
    );
    for (const day of mondays) expect((await submit(grace, grace.employeeId, day)).status).toBe(200);
    await submit(leader);
    const daysOf = (body: { results: { firstDay: string }[] }) => body.results.map(({ firstDay }) => firstDay);
    const first = (await list(leader, `employee_id=${grace.employeeId}`)).body;
    const second = (await list(leader, `employee_id=${grace.employeeId}&cursor=${first.nextCursor}`)).body;
    expect([...daysOf(first), ...daysOf(second)]).toEqual(mondays.toReversed());
    expect([first.results.length, second.nextCursor]).toEqual([50, null]);
    expect(daysOf((await list(admin, 'from=2025-12-28&to=2026-12-31')).body)).toEqual([
      monday,
      '2025-12-29',
      '2025-12-22',
    ]);
    expect(daysOf((await list(grace, 'from=2025-12-28')).body)).toEqual(['2025-12-29', '2025-12-22']);
    expect((await list(grace, 'status=approved')).body.results).toEqual([]);
    expect(errorOf(await list(grace, `employee_id=${leader.employeeId}`))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(errorOf(await list(grace, 'cursor=x'))).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['cursor'],
    });
    expect(errorOf(await neighbour.get(`/api/timesheet-periods/company/${admin.companyId}/`))).toEqual({
      status: 404,
      code: 'NOT_FOUND',
    });
    expect((await list(neighbour)).body.results).toEqual([]);
  });

  test('is handed in once, though 64 calls ask for it at the same time', async () => {
    const { admin, grace } = await startCompany();
    const answers = await Promise.all(Array.from({ length: 64 }, () => submit(grace)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 63 }, () => [409, 'PERIOD_SUBMITTED']),
    );
    expect((await list(admin)).body.results).toHaveLength(1);
  });

  test('is there for nobody of another company, nor for somebody who has left', async () => {
    const { admin, leader, grace } = await startCompany();
    const neighbour = await service.registerCompany();
    const { body: period } = await submit(grace);
    const about = { period_id: period._id };
    expect(errorOf(await submit(neighbour, grace.employeeId)).issues).toEqual(['employee_id']);
    expect(errorOf(await withdraw(neighbour, period._id)).issues).toEqual(['period_id']);
    expect(errorOf(await decide(neighbour, [period._id])).issues).toEqual(['period_ids.0']);
    expect(errorOf(await reopen(neighbour, period._id)).issues).toEqual(['period_id']);
    const policy = `/api/time-policy/${admin.companyId}/`;
    for (const answer of [await neighbour.get(policy), await neighbour.put(policy, { graceDays: 1 })])
      expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });

    expect((await admin.delete(`/api/employees/${leader.employeeId}/`)).status).toBe(200);
    for (const answer of [
      await decide(leader, [period._id]),
      await leader.post('/api/timesheet-periods/withdraw/', about),
    ])
      expect(answer.status).toBe(401);
    expect((await list(admin)).body.results).toEqual([period]);
  });

  test('keeps its snapshot when the time zone of the company changes, and its days', async () => {
    const { admin, grace, taskId } = await startCompany();
    await logHours(grace, taskId, monday, '00', '01');
    const period = (await submit(grace)).body;
    await decide(admin, [period._id]);
    const [before] = (await list(grace)).body.results;
    expect(before.snapshot).toEqual([{ date: monday, projectId: expect.any(Number), seconds: 3600 }]);
    await admin.put(`/company/${admin.companyId}/update/`, { timezone: 'America/New_York' });
    expect((await list(grace)).body.results).toEqual([before]);
    // Midnight in London is Sunday in New York, which is in no period.
    expect((await logHours(grace, taskId, monday, '02', '03')).status).toBe(200);
    expect(errorOf(await logHours(grace, taskId, monday, '05', '06'))).toMatchObject({
      status: 409,
      code: 'PERIOD_LOCKED',
    });
  });
});
