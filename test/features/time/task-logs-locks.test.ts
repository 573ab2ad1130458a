import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { waitForLockWaits } from '../../support/lock-waits.ts';
import { startService } from '../../support/service.ts';
import { waitUntil } from '../../support/waiting.ts';
import { addTask, startWork } from '../../support/work.ts';

/* Locks of logs are taken in one order: task, then log, also where the log is moved to another task at the same time. */

const service = await startService();
const { database } = service;

describe.skipIf(database.kind === 'embedded')('a log that is changed while it is moved to another task', () => {
  test('waits for its new task without holding the log, so a move of that task with its logs goes on', async () => {
    const admin = await service.registerCompany();
    const { projectId, taskId } = await startWork(admin);
    const newTaskId = await addTask(admin, projectId);
    const { body: log } = await admin.post('/tasklog/create/', {
      task_id: taskId,
      employee_id: admin.employeeId,
      start_time: '2025-02-03T06:00:00Z',
      end_time: '2025-02-03T07:00:00Z',
    });
    // Moves the log as a change over the wire does: under the lock of the log, which the next change waits for.
    const first = database.begin();
    await sql`select pg_advisory_xact_lock(hashtextextended(${`task log ${log._id}`}, 0))`.execute(first.db);
    await sql`update task_logs set task_id = ${newTaskId} where task_log_id = ${log._id}`.execute(first.db);
    const changed = admin.put(`/tasklogs/${log._id}/`, { description: 'Cut the gears' });
    await waitForLockWaits(database.db, 1);

    // Moves the new task with its logs; it has the task before the change can.
    const mover = database.begin();
    const { rows } = await sql<{ pid: number }>`
      select pg_backend_pid() as pid from tasks where task_id = ${newTaskId} for no key update`.execute(mover.db);
    await first.commit();
    await waitUntil(async () => {
      const waiting = sql`select from pg_stat_activity where ${rows[0]!.pid}::integer = any(pg_blocking_pids(pid))`;
      return (await waiting.execute(database.db)).rows.length === 1;
    });
    await sql`update task_logs set updated_at = now() where task_id = ${newTaskId}`.execute(mover.db);
    await mover.commit();
    expect(await changed).toMatchObject({ status: 200, body: { taskId: newTaskId, description: 'Cut the gears' } });
    expect(service.log()).not.toContain('40P01');
  });
});
