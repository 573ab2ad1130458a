import { router } from '../../kernel/trpc.ts';
import { addEmployee } from './add-employee.ts';
import { getEmployee } from './get-employee.ts';
import { updateEmployee } from './update-employee.ts';

export const employees = router({ add: addEmployee, get: getEmployee, update: updateEmployee });
