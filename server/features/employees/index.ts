import { router } from '../../kernel/trpc.ts';
import { createEmployee } from './create-employee.ts';
import { endApiKeys } from './end-api-keys.ts';
import { endSessions } from './end-sessions.ts';
import { getAccess } from './get-access.ts';
import { getEmployee } from './get-employee.ts';
import { listActiveEmployees } from './list-active-employees.ts';
import { listEmployees } from './list-employees.ts';
import { listInactiveEmployees } from './list-inactive-employees.ts';
import { deleteEmployee } from './delete-employee.ts';
import { eraseEmployee } from './erase-employee.ts';
import { restoreEmployee } from './restore-employee.ts';
import { searchEmployees } from './search-employees.ts';
import { updateEmployee } from './update-employee.ts';
import { updatePicture } from './update-picture.ts';

export const employees = router({
  create: createEmployee,
  list: listEmployees,
  listActive: listActiveEmployees,
  listInactive: listInactiveEmployees,
  get: getEmployee,
  update: updateEmployee,
  updatePicture,
  search: searchEmployees,
  delete: deleteEmployee,
  restore: restoreEmployee,
  erase: eraseEmployee,
  getAccess: getAccess,
  endSessions,
  endApiKeys,
});
