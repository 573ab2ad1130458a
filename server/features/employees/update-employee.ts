import { z } from 'zod';
import type { Member } from '../../kernel/context.ts';
import { ADMIN_REQUIRED, FORBIDDEN, SESSION_BOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { email, idOf } from '../../kernel/wire/fields.ts';
import { PLAN_LIMIT_REACHED, requirePlaceInPlan } from './plan-limit.ts';
import { endSessionsOpenedByKeysOf } from '../memberships/end-access.ts';
import { inviteActivated, inviteEmployee, unlinkAccount } from '../memberships/membership.ts';
import { apiKeyRevoked } from '../memberships/events.ts';
import { EMPLOYEE_DELETED, EMPLOYEE_ERASED, EMPLOYEE_EXISTS, LAST_ADMIN } from './errors.ts';
import { employeeUpdated } from './events.ts';
import { getEmployee, lockEmployee, searchTextOf, toEmployee, type LockedEmployee } from './queries.ts';
import { Employee, fields } from './schemas.ts';
import { lockAdmins, requireAnotherAdmin, requireFreeAddress } from './employment.ts';
import { offboardEmployee } from './offboard-employee.ts';
import { recordEmployeeUpdate } from './record-change.ts';

/** The fields that only an admin may set, also on themself. */
const adminFields = {
  email,
  designation: fields.designation,
  salary: fields.salary,
  isAdmin: z.boolean(),
  isTeamLeader: z.boolean(),
  is_active: z.boolean(),
};
const profileFields = {
  first_name: fields.first_name,
  last_name: fields.last_name,
  name: fields.name,
  phone: fields.phone,
  date_of_birth: fields.date_of_birth,
  date_of_joining: fields.date_of_joining,
  gender: fields.gender,
  country_code: fields.country_code,
};
const Patch = z.object({ ...profileFields, ...adminFields }).partial();
type Patch = z.output<typeof Patch>;

export const updateEmployee = member('people')
  .meta(
    rest('PATCH /api/employees/{_id}/', {
      section: 'Employees',
      summary: 'Change an employee',
      description: `Any subset of the fields; what is left out stays, \`null\` clears.

- **Profile** (\`first_name\`, \`last_name\`, \`name\`, \`phone\`, \`date_of_birth\`, \`date_of_joining\`, \`gender\`, \`country_code\`): the employee themself or an admin. A \`name\` that is set by itself stays until \`null\` brings "first last" back.
- **Standing** (\`email\`, \`designation\`, \`salary\`, \`isAdmin\`, \`isTeamLeader\`, \`is_active\`): admins only, on themselves too.
- \`is_active: false\` ends every session and API key of the employee; their running timer stops at that moment and its time is logged. The last active admin can be neither demoted nor deactivated. A deleted employee becomes active by being restored.
- \`isAdmin: false\` ends the sessions that the API keys of the employee opened for others.
- \`email\`: the new address is invited (\`invitationStatus: "pending"\`), and only its owner can accept. Sessions and API keys of the employee end, and their notification preferences are deleted. The account that had accepted keeps its password, identities and other companies, is told by mail, and has no way back in. Sending the address of somebody who has not accepted yet invites them again. Somebody who is inactive or deleted is mailed the invitation when they are active again.`,
      errors: [
        FORBIDDEN,
        ADMIN_REQUIRED,
        SESSION_BOUND,
        EMPLOYEE_EXISTS,
        EMPLOYEE_DELETED,
        EMPLOYEE_ERASED,
        LAST_ADMIN,
        PLAN_LIMIT_REACHED,
      ],
      changes: [employeeUpdated, apiKeyRevoked],
      example: { _id: 42, phone: '+44 20 7946 0958', designation: 'Lead engineer', isTeamLeader: true },
    }),
  )
  .input(Patch.extend({ _id: idOf('colleague') }))
  .output(Employee)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId: actorId } = caller;
    const { _id: employeeId, ...patch } = input;
    if (patch.email !== undefined && caller.credential.kind === 'boundSession') throw SESSION_BOUND();
    const takesAdminAway = patch.isAdmin === false || patch.is_active === false;

    const isStanding = takesAdminAway || patch.is_active === true || patch.email !== undefined;
    if (isStanding && caller.isAdmin) await lockAdmins(db, companyId);
    const row = await lockEmployee(db, companyId, employeeId);
    // Read after the lock, so that no timer that this stops started later.
    const now = services.clock.now();
    requireRightTo(patch, caller, employeeId);
    const isChange = Object.values(patch).some((value) => value !== undefined);
    if (isChange && row.erased_at !== null) throw EMPLOYEE_ERASED();
    if (takesAdminAway) await requireAnotherAdmin(db, row);
    if (patch.is_active === true && row.is_deleted) throw EMPLOYEE_DELETED();
    if (patch.is_active === true && !row.is_active) await requirePlaceInPlan(db, companyId);
    const isNewAddress = patch.email !== undefined && patch.email !== row.email;
    if (isNewAddress) await requireFreeAddress(db, companyId, patch.email!);

    if (isChange) {
      await db
        .updateTable('employees')
        .set({ ...changed(row, patch), updated_at: now })
        .where('company_id', '=', companyId)
        .where('employee_id', '=', employeeId)
        .execute();
    }
    const employee = { companyId, employeeId };
    if (isNewAddress) await unlinkAccount(db, employee, { actorId, now });
    const { tokens } = services;
    const invitation = { ...employee, email: patch.email ?? row.email, invitedById: actorId, now, tokens };
    const isActive = patch.is_active ?? row.is_active;
    if (isNewAddress || (patch.email !== undefined && row.account_id === null))
      await inviteEmployee(db, invitation, { isActive });
    else if (isActive && !row.is_active && row.account_id === null) await inviteActivated(db, invitation);
    if (patch.is_active === false) await offboardEmployee(db, employee, { because: 'deactivated', actorId, now });
    else if (patch.isAdmin === false) await endSessionsOpenedByKeysOf(db, employee, 'no longer an admin', now);
    const after = await getEmployee(db, companyId, employeeId);
    recordEmployeeUpdate(db, { before: row, after }, { actorId, at: now, settings: services.settings });
    return toEmployee(after, caller, services.settings);
  });

function requireRightTo(patch: Patch, caller: Member, employeeId: number): void {
  if (caller.isAdmin) return;
  const names = Object.keys(adminFields) as (keyof typeof adminFields)[];
  const reserved = names.filter((name) => patch[name] !== undefined);
  if (reserved.length > 0)
    throw ADMIN_REQUIRED({ detail: `Only an admin of the company may set ${reserved.join(', ')}.` });
  if (caller.employeeId !== employeeId) throw FORBIDDEN({ detail: "Only an admin may change somebody else's record." });
}

/** Every column, so that the statement text is constant. */
function changed(row: LockedEmployee, patch: Patch) {
  const {
    first_name = row.first_name,
    last_name = row.last_name,
    name: own_name = row.own_name,
    email = row.email,
    phone = row.phone,
    designation = row.designation,
    salary = row.salary,
    isAdmin: is_admin = row.is_admin,
    isTeamLeader: is_team_leader = row.is_team_leader,
    is_active = row.is_active,
    date_of_birth = row.date_of_birth,
    date_of_joining = row.date_of_joining,
    gender = row.gender,
    country_code = row.country_code,
  } = patch;
  const name = own_name ?? `${first_name} ${last_name}`;
  return {
    first_name,
    last_name,
    own_name,
    email,
    phone,
    designation,
    salary,
    is_admin,
    is_team_leader,
    is_active,
    date_of_birth,
    date_of_joining,
    gender,
    country_code,
    search_text: searchTextOf({ name, email, designation }),
  };
}
