import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { apiKeyRevoked } from '../memberships/events.ts';
import { LAST_ADMIN } from './errors.ts';
import { employeeDeleted } from './events.ts';
import { lockEmployee } from './queries.ts';
import { lockAdmins, requireAnotherAdmin } from './employment.ts';
import { offboardEmployee } from './offboard-employee.ts';
import { recordEmployee } from './record-change.ts';

export const deleteEmployee = admin('people')
  .meta(
    rest('DELETE /api/employees/{_id}/', {
      section: 'Additions',
      summary: 'Delete an employee',
      description:
        'Marks the employee as deleted and inactive and ends their sessions and API keys at once; a running timer stops at that moment and its time is logged. Nothing of their work is lost, and they can be restored. Deleting a deleted employee changes nothing. The last active admin cannot be deleted.',
      errors: [LAST_ADMIN],
      changes: [employeeDeleted, apiKeyRevoked],
      example: { _id: 42 },
    }),
  )
  .input(z.object({ _id: idOf('colleague') }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId: actorId } = caller;
    const { _id: employeeId } = input;

    await lockAdmins(db, companyId);
    const row = await lockEmployee(db, companyId, employeeId);
    // Read after the lock, so that no timer that this stops started later.
    const now = services.clock.now();
    if (row.is_deleted) return { success: true } as const;
    await requireAnotherAdmin(db, row);
    await db
      .updateTable('employees')
      .set({ is_deleted: true, is_active: false, updated_at: now })
      .where('company_id', '=', companyId)
      .where('employee_id', '=', employeeId)
      .execute();
    recordEmployee(db, employeeDeleted, row, { actorId, at: now, settings: services.settings });
    await offboardEmployee(db, { companyId, employeeId }, { because: 'employee deleted', actorId, now });
    return { success: true } as const;
  });
