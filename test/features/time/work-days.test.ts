import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { companyDays as storedDays } from '../../../db/derived/work-time.ts';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

const service = await startService();
const { db } = service.database;

/** A company in a time zone, with one who works there and something to do. */
async function startCompany(timezone: string) {
  const admin = await service.registerCompany();
  await setZone(admin, timezone);
  return { admin, grace: await service.addEmployee(admin), ...(await startWork(admin)) };
}

async function setZone(admin: Actor, timezone: string): Promise<void> {
  const { status } = await admin.put(`/company/${admin.companyId}/update/`, { timezone });
  expect(status).toBe(200);
}

async function log(actor: Actor, taskId: number, start: string, end: string): Promise<number> {
  const { status, body } = await actor.post('/tasklog/create/', {
    task_id: taskId,
    employee_id: actor.employeeId,
    start_time: start,
    end_time: end,
  });
  expect(status).toBe(200);
  return body._id;
}

/** The stored days of a person: working and logged seconds by day. */
async function daysOf({ companyId, employeeId }: Actor): Promise<Record<string, [number, number]>> {
  const rows = await db
    .selectFrom('work_days')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .selectAll()
    .orderBy('day')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.day, [row.working_seconds, row.logged_seconds]]));
}

async function companyDays({ companyId }: Actor): Promise<Record<string, number>> {
  const { rows } = await sql<{ day: string; logged_seconds: number }>`
    select day, sum(logged_seconds)::bigint as logged_seconds from ${storedDays(companyId)} as d group by day`.execute(
    db,
  );
  return Object.fromEntries(rows.filter((row) => row.logged_seconds !== 0).map((row) => [row.day, row.logged_seconds]));
}

const differences = async ({ companyId }: Actor) => (await verifyTotals(db, companyId)).differences;
const hour = 3600;

describe('a day of work', () => {
  test('counts what overlaps once as working time, and whole as logged time', async () => {
    const { admin, grace, taskId, projectId } = await startCompany('UTC');
    const other = await addTask(admin, projectId);
    await log(grace, taskId, '2025-03-03T09:00:00Z', '2025-03-03T11:00:00Z');
    await log(grace, other, '2025-03-03T10:00:00Z', '2025-03-03T12:00:00Z');
    await log(grace, other, '2025-03-03T09:30:00Z', '2025-03-03T10:30:00Z');
    await log(grace, other, '2025-03-03T12:00:00Z', '2025-03-03T12:30:00Z');
    expect(await daysOf(grace)).toEqual({ '2025-03-03': [3.5 * hour, 5.5 * hour] });
    await log(admin, taskId, '2025-03-03T09:00:00Z', '2025-03-03T10:00:00Z');
    expect(await daysOf(grace)).toEqual({ '2025-03-03': [3.5 * hour, 5.5 * hour] });
    expect(await companyDays(admin)).toEqual({ '2025-03-03': 6.5 * hour });
    expect(await differences(admin)).toEqual([]);
  });

  test('ends at the company’s midnight, and the parts of a log add up to it, to the second', async () => {
    const { admin, grace, taskId } = await startCompany('Asia/Kathmandu');
    await log(grace, taskId, '2025-03-03T17:15:00Z', '2025-03-03T19:15:00Z');
    expect(await daysOf(grace)).toEqual({ '2025-03-03': [hour, hour], '2025-03-04': [hour, hour] });
    await log(grace, taskId, '2025-05-03T18:14:59.500Z', '2025-05-03T18:15:00.500Z');
    const days = await daysOf(grace);
    expect(days['2025-05-03']![1] + days['2025-05-04']![1]).toBe(1);
    expect(await differences(admin)).toEqual([]);
  });

  test('has 23 or 25 hours when clocks change, and none where the calendar leaves it out', async () => {
    const berlin = await startCompany('Europe/Berlin');
    await log(berlin.grace, berlin.taskId, '2024-03-30T23:00:00Z', '2024-03-31T22:00:00Z');
    await log(berlin.grace, berlin.taskId, '2024-10-26T22:00:00Z', '2024-10-27T22:00:00Z');
    await log(berlin.grace, berlin.taskId, '2024-10-27T22:00:00Z', '2024-10-27T23:00:00Z');
    expect(await daysOf(berlin.grace)).toEqual({
      '2024-03-31': [23 * hour, 23 * hour],
      '2024-10-27': [25 * hour, 25 * hour],
    });
    const apia = await startCompany('Pacific/Apia');
    await log(apia.grace, apia.taskId, '2011-12-30T08:00:00Z', '2011-12-30T11:00:00Z');
    expect(await daysOf(apia.grace)).toEqual({ '2011-12-29': [2 * hour, 2 * hour], '2011-12-31': [hour, hour] });
  });

  test('follows a log that changes its times, its person or its task, and forgets one that goes', async () => {
    const { admin, grace, taskId } = await startCompany('America/New_York');
    const joan = await service.addEmployee(admin);
    const id = await log(grace, taskId, '2025-03-03T15:00:00Z', '2025-03-03T17:00:00Z');
    await log(grace, taskId, '2025-03-03T16:00:00Z', '2025-03-03T18:00:00Z');
    expect(await daysOf(grace)).toEqual({ '2025-03-03': [3 * hour, 4 * hour] });
    await admin.put(`/tasklogs/${id}/`, { startTime: '2025-03-05T04:00:00Z', endTime: '2025-03-05T06:00:00Z' });
    expect(await daysOf(grace)).toEqual({
      '2025-03-03': [2 * hour, 2 * hour],
      '2025-03-04': [hour, hour],
      '2025-03-05': [hour, hour],
    });
    await admin.put(`/tasklogs/${id}/`, { userId: joan.employeeId });
    expect(await daysOf(grace)).toEqual({ '2025-03-03': [2 * hour, 2 * hour] });
    expect(await daysOf(joan)).toEqual({ '2025-03-04': [hour, hour], '2025-03-05': [hour, hour] });
    expect(await differences(admin)).toEqual([]);
    await admin.delete(`/api/tasklogs/delete/${id}/`);
    expect(await daysOf(joan)).toEqual({});
    expect(await companyDays(admin)).toEqual({ '2025-03-03': 2 * hour });
    expect(await differences(admin)).toEqual([]);
  });

  test('is right when twenty logs of one person that overlap come at once', async () => {
    const { admin, grace, taskId } = await startCompany('UTC');
    const at = (minutes: number) => new Date(Date.parse('2025-03-03T23:00:00Z') + minutes * 60_000).toISOString();
    await Promise.all(Array.from({ length: 20 }, (_, n) => log(grace, taskId, at(n * 5), at(n * 5 + 30))));
    expect(await daysOf(grace)).toEqual({
      '2025-03-03': [hour, (7 * 30 + 25 + 20 + 15 + 10 + 5) * 60],
      '2025-03-04': [65 * 60, 20 * 30 * 60 - (7 * 30 + 25 + 20 + 15 + 10 + 5) * 60],
    });
    expect(await differences(admin)).toEqual([]);
  });
});

describe('a change of the company’s time zone', () => {
  test('recomputes every day at once and touches nothing of a neighbour', async () => {
    const { admin, grace, taskId } = await startCompany('UTC');
    const neighbour = await startCompany('UTC');
    for (const { grace: person, taskId: task } of [{ grace, taskId }, neighbour])
      await log(person, task, '2025-03-03T21:00:00Z', '2025-03-04T02:00:00Z');
    await setZone(admin, 'America/St_Johns');
    expect(await daysOf(grace)).toEqual({ '2025-03-03': [5 * hour, 5 * hour] });
    await setZone(admin, 'Asia/Kathmandu');
    expect(await daysOf(grace)).toEqual({ '2025-03-04': [5 * hour, 5 * hour] });
    expect(await companyDays(admin)).toEqual({ '2025-03-04': 5 * hour });
    expect(await daysOf(neighbour.grace)).toEqual({
      '2025-03-03': [3 * hour, 3 * hour],
      '2025-03-04': [2 * hour, 2 * hour],
    });
    expect(await differences(admin)).toEqual([]);
  });

  test('that is refused, or is none, changes no day', async () => {
    const { admin, grace, taskId } = await startCompany('Europe/Berlin');
    await log(grace, taskId, '2025-03-03T22:30:00Z', '2025-03-03T23:30:00Z');
    const marks = async () =>
      (
        await sql<{ mark: string }>`
          select ctid::text || xmin::text as mark from work_days where company_id = ${admin.companyId}`.execute(db)
      ).rows;
    const before = await marks();
    expect(before).toHaveLength(2);
    await setZone(admin, 'Europe/Berlin');
    await admin.put(`/company/${admin.companyId}/update/`, { name: 'Renamed' });
    expect((await admin.put(`/company/${admin.companyId}/update/`, { timezone: 'Mars/Olympus' })).status).toBe(400);
    expect((await grace.put(`/company/${admin.companyId}/update/`, { timezone: 'UTC' })).status).toBe(403);
    expect(await marks()).toEqual(before);
  });

  test('loses no log that comes, changes or goes at the same time', async () => {
    const { admin, grace, taskId } = await startCompany('UTC');
    const at = (n: number) =>
      [
        new Date(Date.parse('2025-03-03T20:00:00Z') + n * 7_200_000).toISOString(),
        new Date(Date.parse('2025-03-04T03:00:00Z') + n * 7_200_000).toISOString(),
      ] as const;
    const ids = [];
    for (let n = 0; n < 8; n += 1) ids.push(await log(grace, taskId, ...at(n)));
    const zones = ['Asia/Kathmandu', 'America/New_York', 'Pacific/Apia'];
    const answers = await Promise.all([
      ...zones.map((timezone) => admin.put(`/company/${admin.companyId}/update/`, { timezone })),
      ...ids.slice(0, 4).map((id) => grace.delete(`/api/tasklogs/delete/${id}/`)),
      ...ids
        .slice(4)
        .map((id, n) => grace.put(`/tasklogs/${id}/`, { startTime: at(n + 10)[0], endTime: at(n + 10)[1] })),
      ...Array.from({ length: 6 }, async (_, n) => ({
        status: (await log(grace, taskId, ...at(20 + n))) > 0 ? 200 : 0,
      })),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const logged = Object.values(await companyDays(admin)).reduce((sum, seconds) => sum + seconds, 0);
    expect(logged).toBe(10 * 7 * hour);
    expect(await differences(admin)).toEqual([]);
  });
});

describe('a verification of the totals', () => {
  test('names each total that is not what the logs say, and only those', async () => {
    const { admin, grace, taskId, projectId } = await startCompany('UTC');
    const neighbour = await startCompany('UTC');
    await log(grace, taskId, '2025-03-03T09:00:00Z', '2025-03-03T11:00:00Z');
    await log(neighbour.grace, neighbour.taskId, '2025-03-03T09:00:00Z', '2025-03-03T11:00:00Z');
    expect((await verifyTotals(db, admin.companyId)).checked).toEqual({ logs: 1, days: 1, people: 1, projects: 1 });
    const { companyId, employeeId } = grace;
    const found = async (tamper: string) => {
      const transaction = service.database.begin();
      try {
        await sql`${sql.raw(tamper)} where company_id = ${companyId}`.execute(transaction.db);
        expect((await verifyTotals(transaction.db, neighbour.admin.companyId)).differences).toEqual([]);
        return (await verifyTotals(transaction.db, companyId)).differences;
      } finally {
        await transaction.rollback();
      }
    };
    const person = `of employee ${employeeId}`;
    expect(await found('update work_days set working_seconds = 60')).toEqual([
      { total: `working seconds ${person} on 2025-03-03`, kept: 60, counted: 7200 },
      { total: `working seconds ${person}`, kept: 7200, counted: 60 },
    ]);
    expect(await found('delete from work_days')).toContainEqual({
      total: `logged seconds ${person} on 2025-03-03`,
      kept: -1,
      counted: 7200,
    });
    expect(await found('update company_days set logged_seconds = 1')).toEqual([
      { total: 'logged seconds on 2025-03-03', kept: 1, counted: 7200 },
    ]);
    expect(await found('update work_totals set logged_seconds = 7201')).toEqual([
      { total: `logged seconds ${person}`, kept: 7201, counted: 7200 },
    ]);
    expect(await found('update projects set logged_seconds = 0')).toEqual([
      { total: `logged seconds of project ${projectId}`, kept: 0, counted: 7200 },
    ]);
    // Logs that are deleted by hand do not escape the triggers.
    expect(await found('delete from task_logs')).toEqual([]);
    expect(await differences(admin)).toEqual([]);
  });
});
