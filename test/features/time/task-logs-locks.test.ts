import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { waitForLockWaits } from '../../support/lock-waits.ts';
import { startService } from '../../support/service.ts';
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
    const change = (fields: object) => admin.put(`/tasklogs/${log._id}/`, fields);
    const newTask = sql`select from tasks where task_id = ${newTaskId} for update`;

    const holder = database.begin();
    await newTask.execute(holder.db);
    const moved = change({ taskId: newTaskId });
    await waitForLockWaits(database.db, 1);
    const changed = change({ description: 'Cut the gears' });
    await waitForLockWaits(database.db, 2);
    const mover = database.begin();
    const locked = newTask.execute(mover.db);
    await waitForLockWaits(database.db, 3);
    await holder.rollback();

    expect((await moved).status).toBe(200);
    await locked;
    await waitForLockWaits(database.db, 1);
    await sql`update task_logs set updated_at = now() where task_id = ${newTaskId}`.execute(mover.db);
    await mover.commit();
    expect(await changed).toMatchObject({ status: 200, body: { taskId: newTaskId, description: 'Cut the gears' } });
    expect(service.log()).not.toContain('40P01');
  });
});
