import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/actor.ts';
import { dayAfter, fullWeek, getBalance, setHolidays, setHours } from '../../support/hours.ts';
import { logHours, monday, setPolicy, submit } from '../../support/periods.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* What is expected of an employee, and what they worked. */

const service = await startService();
const sunday = '2026-03-08';

async function startCompany() {
  const admin = await service.registerCompany();
  const grace = await service.addEmployee(admin);
  return { admin, grace, ...(await startWork(admin)) };
}

const hours = (...days: number[]): number[] => days.map((one) => one * 3600);
const expectedOf = ({ body }: { body: { days: { expectedSeconds: number }[] } }) =>
  body.days.map((day) => day.expectedSeconds);

describe('a balance', () => {
  test('has every day of the range with its difference, and their sums; no minute counts twice', async () => {
    const { admin, grace, taskId } = await startCompany();
    const other = await startWork(admin);
    await setHours(admin, grace.employeeId, '2026-01-01', [60, 120, 0, 0, 0, 0, 0]);
    await setHolidays(admin, monday, sunday, [{ date: '2026-03-03', name: 'Founders’ Day' }]);
    await logHours(grace, taskId, monday, '09', '11');
    await logHours(grace, other.taskId, monday, '10', '12');
    await logHours(grace, taskId, '2026-03-03', '09', '10');
    await logHours(grace, taskId, '2026-03-09');
    const { status, body } = await getBalance(grace, monday, '2026-03-04');
    const day = (date: string, expectedSeconds: number, workingSeconds: number, holiday: string | null = null) => ({
      date,
      expectedSeconds,
      workingSeconds,
      differenceSeconds: workingSeconds - expectedSeconds,
      holiday,
    });
    expect([status, body]).toEqual([
      200,
      {
        employee_id: grace.employeeId,
        from: monday,
        to: '2026-03-04',
        expectedSeconds: 3600,
        workingSeconds: 14_400,
        differenceSeconds: 10_800,
        days: [day(monday, 3600, 10_800), day('2026-03-03', 0, 3600, 'Founders’ Day'), day('2026-03-04', 0, 0)],
      },
    ]);
    expect((await getBalance(grace, '2026-03-10', '2026-03-10')).body).toMatchObject({
      expectedSeconds: 7200,
      workingSeconds: 0,
      differenceSeconds: -7200,
    });
  });

  test('expects what the entry of the day says, before the first one what the policy says, and without one 8 hours', async () => {
    const { admin, grace } = await startCompany();
    const week = async () => expectedOf(await getBalance(grace, monday, sunday));
    expect(await week()).toEqual(hours(8, 8, 8, 8, 8, 0, 0));
    await setPolicy(admin, { expectedMinutes: [60, 60, 60, 60, 60, 60, 0] });
    expect(await week()).toEqual(hours(1, 1, 1, 1, 1, 1, 0));
    await setHours(admin, grace.employeeId, '2026-03-04', [120, 120, 120, 120, 120, 120, 120]);
    await setHours(admin, grace.employeeId, '2026-03-07', [0, 0, 0, 0, 0, 0, 180]);
    expect(await week()).toEqual(hours(1, 1, 2, 2, 2, 0, 3));
    expect(expectedOf(await getBalance(admin, monday, sunday))).toEqual(hours(1, 1, 1, 1, 1, 1, 0));
    await setHours(admin, grace.employeeId, '2026-03-07', null);
    expect(await week()).toEqual(hours(1, 1, 2, 2, 2, 2, 2));
    await setHours(admin, grace.employeeId, '2026-03-04', null);
    expect(await week()).toEqual(hours(1, 1, 1, 1, 1, 1, 0));
  });

  test('expects nothing before the employee joined, nothing on holidays, and days to come as others', async () => {
    const { admin, grace } = await startCompany();
    await admin.patch(`/api/employees/${grace.employeeId}/`, { date_of_joining: '2026-03-04' });
    await setHolidays(admin, monday, sunday, [{ date: '2026-03-05', name: 'Founders’ Day' }]);
    expect(expectedOf(await getBalance(grace, monday, sunday))).toEqual(hours(0, 0, 8, 0, 8, 0, 0));
    expect(expectedOf(await getBalance(grace, '2996-03-07', '2996-03-07'))).toEqual(hours(8));
  });

  test('is for the employee, team leaders and admins, also of somebody who has left', async () => {
    const { admin, grace } = await startCompany();
    const leader = await service.addEmployee(admin, { isTeamLeader: true });
    const colleague = await service.addEmployee(admin);
    const neighbour = await service.registerCompany();
    const { employeeId } = grace;
    for (const actor of [grace, leader, admin])
      expect((await getBalance(actor, monday, sunday, employeeId)).body.employee_id).toBe(employeeId);
    expect(errorOf(await getBalance(colleague, monday, sunday, employeeId))).toEqual({
      status: 403,
      code: 'FORBIDDEN',
    });
    for (const id of [employeeId, 999_999_999])
      expect(errorOf(await getBalance(neighbour, monday, sunday, id))).toEqual({ status: 404, code: 'NOT_FOUND' });
    await admin.delete(`/api/employees/${employeeId}/`);
    expect((await getBalance(grace, monday, sunday)).status).toBe(401);
    expect((await getBalance(admin, monday, sunday, employeeId)).body.expectedSeconds).toBe(5 * 8 * 3600);
  });

  test('is of 366 days at most, and of the most that can be expected', async () => {
    const { admin, grace } = await startCompany();
    for (const [from, to, issue] of [
      ['2026-03-02', '2026-03-01', 'to'],
      ['2026-01-01', '2027-01-02', 'to'],
      ['2026-02-30', '2026-03-01', 'from'],
    ] as const)
      expect(errorOf(await getBalance(grace, from, to))).toMatchObject({ status: 400, issues: [issue] });
    const most = fullWeek.map(() => 1440);
    const rows = Array.from({ length: 500 }, (_, nth) => ({
      company_id: admin.companyId,
      employee_id: grace.employeeId,
      valid_from: dayAfter('2027-12-01', nth),
      minutes: most,
    }));
    await service.database.db.insertInto('working_hours').values(rows).execute();
    const { body } = await getBalance(grace, '2028-01-01', '2028-12-31');
    expect(body.days).toHaveLength(366);
    expect(body).toMatchObject({ expectedSeconds: 366 * 86_400, differenceSeconds: -366 * 86_400 });
    const again = await Promise.all(Array.from({ length: 5 }, () => getBalance(grace, '2028-01-01', '2028-12-31')));
    expect(again.map((answer) => answer.body)).toEqual(Array(5).fill(body));
    expect((await getBalance(grace, '9999-01-01', '9999-12-31')).status).toBe(200);
  });

  test('is what a period keeps when it is handed in, and changes afterwards where the period does not', async () => {
    const { admin, grace } = await startCompany();
    await setHours(admin, grace.employeeId, '2026-03-04', [0, 0, 100, 10, 1, 0, 0]);
    await setHolidays(admin, monday, sunday, [{ date: '2026-03-05', name: 'Founders’ Day' }]);
    const { expectedMinutes } = (await submit(grace)).body;
    expect(expectedMinutes).toBe(480 + 480 + 100 + 0 + 1);
    expect((await getBalance(grace, monday, sunday)).body.expectedSeconds).toBe(expectedMinutes * 60);
    await setHolidays(admin, monday, sunday, []);
    expect((await getBalance(grace, monday, sunday)).body.expectedSeconds).toBe((expectedMinutes + 10) * 60);
    const { body } = await grace.get(`/api/timesheet-periods/company/${grace.companyId}/`);
    expect(body.results[0].expectedMinutes).toBe(expectedMinutes);
  });
});
