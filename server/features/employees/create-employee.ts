import { z } from 'zod';
import { notFoundIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { email, idOf } from '../../kernel/wire/fields.ts';
import { PLAN_LIMIT_REACHED, requirePlaceInPlan } from './plan-limit.ts';
import { inviteEmployee } from '../memberships/membership.ts';
import { EMPLOYEE_EXISTS } from './errors.ts';
import { employeeCreated } from './events.ts';
import { getEmployee, insertEmployee, toEmployee } from './queries.ts';
import { requireFreeAddress } from './employment.ts';
import { recordEmployee } from './record-change.ts';
import { Employee, fields } from './schemas.ts';

export const createEmployee = admin('people')
  .meta(
    rest('POST /employee/add/', {
      section: 'Employees',
      summary: 'Add an employee and invite them',
      description:
        "`companyId` is the caller's own company. The employee is active at once: tasks can be theirs and leaders can log time for them. Their address is invited by e-mail, and only its owner joins an account to the employee (`invitationStatus` is `pending` until then): somebody new by signing in with an e-mailed code, Google or Apple, somebody who is in other companies by naming `company_id` there or with POST /api/invitations/{invitation_id}/accept/. One company mails at most 3 invitations a day to one address, and 200 a day in all until it pays for a plan; an invitation beyond that is made, but not mailed. An address is one employee of a company at most, deleted ones included: restore those instead. A plan has places for as many active employees as its `maxEmployees` says.",
      errors: [EMPLOYEE_EXISTS, PLAN_LIMIT_REACHED],
      changes: [employeeCreated],
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
      companyId: idOf('company'),
      phone: fields.phone.optional(),
      designation: fields.designation.optional(),
      salary: fields.salary.optional(),
    }),
  )
  .output(Employee)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { tokens } = services;
    const { companyId } = caller;
    if (input.companyId !== companyId) throw notFoundIn('companyId');
    const now = services.clock.now();

    await requirePlaceInPlan(db, companyId);
    await requireFreeAddress(db, companyId, input.email);
    const employeeId = await insertEmployee(db, {
      companyId,
      accountId: null,
      email: input.email,
      firstName: input.first_name,
      lastName: input.last_name,
      phone: input.phone ?? null,
      designation: input.designation ?? null,
      salary: input.salary ?? null,
      now,
    });
    const invitation = { companyId, employeeId, email: input.email, invitedById: caller.employeeId, now, tokens };
    await inviteEmployee(db, invitation, { isActive: true });
    const row = await getEmployee(db, companyId, employeeId);
    recordEmployee(db, employeeCreated, row, { actorId: caller.employeeId, at: now, settings: services.settings });
    return toEmployee(row, caller, services.settings);
  });
