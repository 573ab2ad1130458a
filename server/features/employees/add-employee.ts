import { z } from 'zod';
import { notFoundIn } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { deliver } from '../../kernel/reaction.ts';
import { email, id } from '../../kernel/wire.ts';
import { getOrInsertAccount } from '../auth/accounts.ts';
import { EMPLOYEE_EXISTS } from './faults.ts';
import { sendInvitation } from './invitation.ts';
import { getEmployee, insertEmployee, toEmployee } from './queries.ts';
import { requireFreePlace } from './standing.ts';
import { Employee, fields } from './schemas.ts';

export const addEmployee = admin
  .meta(
    rest('POST /employee/add/', {
      section: 'Employees',
      summary: 'Add an employee and invite them',
      description:
        "`companyId` is the caller's own company. The address is invited by e-mail; its owner signs in with a code, or with the account that they have already. An address is one employee of a company at most, deleted ones included: restore those instead.",
      faults: [EMPLOYEE_EXISTS],
      example: {
        first_name: 'Grace',
        last_name: 'Hopper',
        email: 'grace@example.com',
        phone: '+1 202 555 0143',
        designation: 'Engineer',
        companyId: 1,
        salary: 52_000,
      },
    }),
  )
  .input(
    z.object({
      first_name: fields.first_name,
      last_name: fields.last_name,
      email,
      companyId: id,
      phone: fields.phone.optional(),
      designation: fields.designation.optional(),
      salary: fields.salary.optional(),
    }),
  )
  .output(Employee)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId } = caller;
    if (input.companyId !== companyId) throw notFoundIn('companyId');
    const now = services.clock.now();

    const account = await getOrInsertAccount(db, input.email, now);
    await requireFreePlace(db, companyId, account.account_id);
    const employeeId = await insertEmployee(db, {
      companyId,
      accountId: account.account_id,
      email: input.email,
      firstName: input.first_name,
      lastName: input.last_name,
      phone: input.phone ?? null,
      designation: input.designation ?? null,
      salary: input.salary ?? null,
      now,
    });
    await deliver(db, sendInvitation, {
      dedupeKey: `employee ${companyId} ${employeeId}`,
      payload: { companyId, employeeId, invitedById: caller.employeeId },
      now,
    });
    ctx.afterCommit(services.wakeDeliveries);
    return toEmployee(await getEmployee(db, companyId, employeeId), caller, services.settings);
  });
