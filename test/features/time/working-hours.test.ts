import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { dayAfter, setHours } from '../../support/hours.ts';
import { startService } from '../../support/service.ts';

/* The working hours of an employee: who sets and sees them, and what may be set. Balances say what they expect. */

const service = await startService();
const week = [360, 360, 360, 360, 0, 0, 0];
const half = [240, 240, 240, 240, 240, 0, 0];

const list = (actor: Actor, employeeId: number) => actor.get(`/api/working-hours/${employeeId}/`);

async function startCompany() {
  const admin = await service.registerCompany();
  const leader = await service.addEmployee(admin, { isTeamLeader: true });
  const grace = await service.addEmployee(admin);
  return { admin, leader, grace };
}

describe('working hours', () => {
  test('are entries by their first day; one of the same day is replaced, and null deletes it', async () => {
    const { admin, grace } = await startCompany();
    const { employeeId } = grace;
    const of = (...entries: [string, number[]][]) => ({
      employee_id: employeeId,
      entries: entries.map(([validFrom, minutes]) => ({ validFrom, minutes })),
    });
    expect((await list(grace, employeeId)).body).toEqual(of());
    expect((await setHours(admin, employeeId, '2026-03-02', week)).body).toEqual(of(['2026-03-02', week]));
    await setHours(admin, employeeId, '2025-01-01', half);
    const both = of(['2025-01-01', half], ['2026-03-02', half]);
    expect((await setHours(admin, employeeId, '2026-03-02', half)).body).toEqual(both);
    expect((await setHours(admin, employeeId, '2026-03-03', null)).body).toEqual(both);
    expect((await list(grace, employeeId)).body).toEqual(both);
    expect((await setHours(admin, employeeId, '2025-01-01', null)).body).toEqual(of(['2026-03-02', half]));
    expect((await list(admin, admin.employeeId)).body.entries).toEqual([]);
  });

  test('are set by admins, and seen by the employee, team leaders and admins alone', async () => {
    const { admin, leader, grace } = await startCompany();
    const colleague = await service.addEmployee(admin);
    const neighbour = await service.registerCompany();
    const { employeeId } = grace;
    await setHours(admin, employeeId, '2026-03-02', week);
    for (const actor of [leader, grace, colleague])
      expect(errorOf(await setHours(actor, employeeId, '2026-03-02', half))).toEqual({
        status: 403,
        code: 'ADMIN_REQUIRED',
      });
    for (const actor of [admin, leader, grace])
      expect((await list(actor, employeeId)).body.entries).toEqual([{ validFrom: '2026-03-02', minutes: week }]);
    expect(errorOf(await list(colleague, employeeId))).toEqual({ status: 403, code: 'FORBIDDEN' });
    for (const answer of [await list(neighbour, employeeId), await setHours(neighbour, employeeId, '2026-03-02', half)])
      expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect((await list(admin, employeeId)).body.entries).toEqual([{ validFrom: '2026-03-02', minutes: week }]);
  });

  test('of somebody who has left are still set and seen, but not by them', async () => {
    const { admin, grace } = await startCompany();
    await admin.delete(`/api/employees/${grace.employeeId}/`);
    const none = [0, 0, 0, 0, 0, 0, 0];
    expect((await setHours(admin, grace.employeeId, '2026-04-01', none)).status).toBe(200);
    expect((await list(admin, grace.employeeId)).body.entries).toHaveLength(1);
    expect((await list(grace, grace.employeeId)).status).toBe(401);
  });

  test('are 0 to 1440 minutes on seven days from an existing day on, and nothing else', async () => {
    const { admin, grace } = await startCompany();
    const path = `/api/working-hours/${grace.employeeId}/`;
    for (const [body, issues] of [
      [{ validFrom: '2026-02-30', minutes: week }, ['validFrom']],
      [{ validFrom: '2026-03-02' }, ['minutes']],
      [{ validFrom: '2026-03-02', minutes: week.slice(1) }, ['minutes']],
      [{ validFrom: '2026-03-02', minutes: [...week, 0] }, ['minutes']],
      [
        { validFrom: '2026-03-02', minutes: [0, -1, 0, 1441, 0.5, null, '8'] },
        [1, 3, 4, 5, 6].map((at) => `minutes.${at}`),
      ],
    ] as const)
      expect(errorOf(await admin.put(path, body))).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues });
    expect((await list(admin, grace.employeeId)).body.entries).toEqual([]);
    const most = Array.from({ length: 7 }, () => 1440);
    expect((await setHours(admin, grace.employeeId, '0001-01-01', most)).status).toBe(200);
    expect((await setHours(admin, grace.employeeId, '9999-12-31', most)).status).toBe(200);
  });

  test('have at most 500 entries, whatever is sent at once', async () => {
    const { admin, grace } = await startCompany();
    const { companyId } = admin;
    const row = (nth: number) => ({
      company_id: companyId,
      employee_id: grace.employeeId,
      valid_from: dayAfter('2020-01-01', nth),
      minutes: week,
    });
    await service.database.db
      .insertInto('working_hours')
      .values(Array.from({ length: 468 }, (_, nth) => row(nth)))
      .execute();
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, nth) => setHours(admin, grace.employeeId, dayAfter('2026-01-01', nth), week)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(32);
    expect(errorOf(answers.find(({ status }) => status !== 200)!)).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['validFrom'],
    });
    expect((await list(grace, grace.employeeId)).body.entries).toHaveLength(500);
    // What is there is changed still, and deleted.
    expect((await setHours(admin, grace.employeeId, '2020-01-01', half)).body.entries[0].minutes).toEqual(half);
    await setHours(admin, grace.employeeId, '2020-01-01', null);
    expect((await setHours(admin, grace.employeeId, '2019-01-01', week)).status).toBe(200);
  });

  test('are in the audit log with what they were', async () => {
    const { admin, grace } = await startCompany();
    for (const minutes of [week, half, half, null, null])
      await setHours(admin, grace.employeeId, '2026-03-02', minutes);
    const { body } = await admin.get(`/api/audit/company/${admin.companyId}/?operation=workingHours.set`);
    const entry = (minutes: number[]) => ({ validFrom: '2026-03-02', minutes });
    const head = { event: 'working_hours.set', kind: 'employee', id: grace.employeeId };
    expect(body.results.flatMap((one: { changes: unknown[] }) => one.changes)).toEqual([
      { ...head, before: entry(half), after: null },
      { ...head, before: entry(week), after: entry(half) },
      { ...head, before: null, after: entry(week) },
    ]);
  });
});
