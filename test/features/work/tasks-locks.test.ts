import { describe, expect, test } from 'vitest';
import { lockAdmins } from '../../../server/features/employees/employment.ts';
import { lockEmployee } from '../../../server/features/employees/queries.ts';
import { waitForLockWaits } from '../../support/lock-waits.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* A task and a change of employment take their locks in one order: the company, then the employee. */

const service = await startService();
const { database } = service;

describe.skipIf(database.kind === 'embedded')('a task of an employee whose employment is being changed', () => {
  test.each(['created', 'reassigned'])(
    'is %s afterwards, and does not hold the employee while it waits',
    async (how) => {
      const admin = await service.registerCompany();
      const { companyId } = admin;
      const { employeeId } = await service.addEmployee(admin);
      const { projectId, taskId } = await startWork(admin);
      const change = database.forCompany(companyId).begin();
      await lockAdmins(change.db, companyId);

      const task =
        how === 'created'
          ? admin.post('/api/tasks/', { projectId, title: 'Cut the gears', owner_id: employeeId })
          : admin.patch(`/api/tasks/${taskId}/`, { owner_id: employeeId });
      await waitForLockWaits(database.db, 1);
      await lockEmployee(change.db, companyId, employeeId);
      await change.commit();

      expect(await task).toMatchObject({ status: 200, body: { owner_id: employeeId } });
      expect(service.log()).not.toContain('40P01');
    },
  );
});
