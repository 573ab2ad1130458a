import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { PLAN_LIMIT_REACHED, requirePlaceInPlan } from './plan-limit.ts';
import { EMPLOYEE_ERASED } from './errors.ts';
import { employeeRestored } from './events.ts';
import { getEmployee, lockEmployee, toEmployee } from './queries.ts';
import { Employee } from './schemas.ts';
import { inviteActivated } from '../memberships/membership.ts';
import { lockAdmins } from './employment.ts';
import { recordEmployee } from './record-change.ts';

export const restoreEmployee = admin('people')
  .meta(
    rest('POST /api/employees/{_id}/restore/', {
      section: 'Additions',
      summary: 'Take the deletion of an employee back',
      description:
        'The employee is active again, with the permissions and the work that they had, and has to sign in again. An invitation that was not mailed before is mailed now. Restoring an employee who is not deleted changes nothing, and one who was erased cannot be restored.',
      errors: [PLAN_LIMIT_REACHED, EMPLOYEE_ERASED],
      changes: [employeeRestored],
      example: { _id: 42 },
    }),
  )
  .input(z.object({ _id: idOf('colleague') }))
  .output(Employee)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId } = caller;
    const now = services.clock.now();
    await lockAdmins(db, companyId);
    const row = await lockEmployee(db, companyId, input._id);
    if (row.erased_at !== null) throw EMPLOYEE_ERASED();
    if (row.is_deleted) {
      await requirePlaceInPlan(db, companyId);
      await db
        .updateTable('employees')
        .set({ is_deleted: false, is_active: true, updated_at: now })
        .where('company_id', '=', companyId)
        .where('employee_id', '=', input._id)
        .execute();
      const invitation = {
        companyId,
        employeeId: input._id,
        email: row.email,
        invitedById: caller.employeeId,
        now,
        tokens: services.tokens,
      };
      if (row.account_id === null) await inviteActivated(db, invitation);
    }
    const after = await getEmployee(db, companyId, input._id);
    const by = { actorId: caller.employeeId, at: now, settings: services.settings };
    if (row.is_deleted) recordEmployee(db, employeeRestored, after, by);
    return toEmployee(after, caller, services.settings);
  });
