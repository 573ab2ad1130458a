import { describe, expect, onTestFinished, test } from 'vitest';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import { recomputeWorkDays } from '../../../db/derived/work-time.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* Everybody's logs of one day meet in one row of `company_days`. Who would wait for it writes a shard of the day. */

const service = await startService();
const { database } = service;

describe.skipIf(database.kind === 'embedded')('a log of a day on which another log is being written', () => {
  test('does not wait for it, and both count', async () => {
    const admin = await service.registerCompany();
    const { companyId } = admin;
    const grace = await service.addEmployee(admin);
    const [mine, hers] = [await startWork(admin), await startWork(grace)];
    const { db, begin } = database.forCompany(companyId);
    const yesterday = new Date(service.clock.now().getTime() - 24 * 3_600_000);
    yesterday.setUTCHours(9, 0, 0, 0);
    const hours = (from: number, to: number) => ({
      start_time: new Date(yesterday.getTime() + from * 3_600_000),
      end_time: new Date(yesterday.getTime() + to * 3_600_000),
    });
    const log = (from: number, to: number) =>
      grace.post('/tasklog/create/', { task_id: hers.taskId, employee_id: grace.employeeId, ...hours(from, to) });
    expect((await log(0, 1)).status).toBe(200);

    const other = begin();
    onTestFinished(() => other.rollback());
    await other.db
      .insertInto('task_logs')
      .values({
        company_id: companyId,
        task_id: mine.taskId,
        project_id: mine.projectId,
        employee_id: admin.employeeId,
        ...hours(0, 2),
        manual_add: true,
        created_at: yesterday,
        updated_at: yesterday,
      })
      .execute();
    expect((await log(1, 5)).status).toBe(200);
    await other.commit();

    const shards = () => db.selectFrom('company_day_shards').select('logged_seconds').execute();
    const seconds = async () => (await admin.get(`/task-statistics/${companyId}/`)).body.hours.total;
    expect(await shards()).toEqual([{ logged_seconds: 4 * 3600 }]);
    expect(await seconds()).toBe(7);
    expect((await verifyTotals(db, companyId)).differences).toEqual([]);

    // A recomputation deletes the days, and their shards go with them.
    await recomputeWorkDays(db, companyId);
    expect(await shards()).toEqual([]);
    expect((await verifyTotals(db, companyId)).differences).toEqual([]);
  });
});
