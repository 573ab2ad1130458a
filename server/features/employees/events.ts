import { z } from 'zod';
import { changeEvent, changesOf, findChanges } from '../../kernel/change-event.ts';
import { Employee } from './schemas.ts';

type EmployeeRecord = z.input<typeof Employee>;

/** Fields that events do not show: of these they say only that they have changed. */
const personal = { phone: true, salary: true, date_of_birth: true, gender: true, country_code: true } as const;
const hidden = z.null().meta({ description: 'Not shown: only that it has changed' });

const EmployeeHeader = Employee.omit({ ...personal, is_active: true }).meta({
  id: 'EmployeeHeader',
  description: 'An employee without salary, phone number, date of birth, gender and country',
});

const { _id } = EmployeeHeader.shape;
const { shape: shown } = EmployeeHeader.omit({ _id: true, companyId: true, createdAt: true, updatedAt: true });
const changes = changesOf({
  ...shown,
  phone: hidden,
  salary: hidden,
  date_of_birth: hidden,
  gender: hidden,
  country_code: hidden,
});

const payload = { employeeId: _id, employee: EmployeeHeader };

export const employeeCreated = changeEvent('employee.created', 'An admin has added an employee.', payload);

export const employeeUpdated = changeEvent(
  'employee.updated',
  'An employee was changed: their profile, picture or rights, or they have accepted the invitation.',
  { ...payload, changes },
);

export const employeeDeclined = changeEvent(
  'employee.declined',
  'The owner of the address has declined the invitation: the employee has no account.',
  payload,
);

export const employeeDeleted = changeEvent('employee.deleted', 'An admin has deleted an employee.', payload);

export const employeeRestored = changeEvent(
  'employee.restored',
  'An admin has taken the deletion of an employee back.',
  payload,
);

export const employeeErased = changeEvent(
  'employee.erased',
  'An admin has erased a person for good: what is left of the employee is a number and their work.',
  payload,
);

/** What differs between two states of an employee, without the values of what is personal. */
export function findEmployeeChanges(
  before: EmployeeRecord,
  after: EmployeeRecord,
): z.input<typeof changes> | undefined {
  const visible = findChanges(shown, before, after);
  const others = Object.keys(findChanges(Employee.pick(personal).shape, before, after) ?? {});
  if (!visible && others.length === 0) return undefined;
  return { ...visible, ...Object.fromEntries(others.map((name) => [name, { before: null, after: null }])) };
}

/** An event that carries the employee and no changes. */
export type EmployeeEvent =
  | typeof employeeCreated
  | typeof employeeDeclined
  | typeof employeeDeleted
  | typeof employeeErased
  | typeof employeeRestored;
