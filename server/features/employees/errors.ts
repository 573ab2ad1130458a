import { defineError } from '../../errors/api-error.ts';

export const EMPLOYEE_EXISTS = defineError(
  'EMPLOYEE_EXISTS',
  'CONFLICT',
  'Somebody with this e-mail address is an employee of the company already.',
);
export const EMPLOYEE_DELETED = defineError(
  'EMPLOYEE_DELETED',
  'CONFLICT',
  'This employee is deleted: restore them with POST /api/employees/{_id}/restore/.',
);
export const EMPLOYEE_ERASED = defineError(
  'EMPLOYEE_ERASED',
  'CONFLICT',
  'This person was erased, which cannot be taken back: add them as a new employee.',
);
export const OWNER_NOT_ERASED = defineError(
  'OWNER_NOT_ERASED',
  'CONFLICT',
  'This employee owns the company, and only the owner can close it: a company ends with POST /api/company/{company_id}/close/.',
);
export const LAST_ADMIN = defineError(
  'LAST_ADMIN',
  'CONFLICT',
  'This is the last active admin of the company: make somebody else an admin first.',
);
