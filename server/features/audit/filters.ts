import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { NOT_FOUND, notFoundIn } from '../../errors/errors.ts';
import type { Member } from '../../kernel/context.ts';
import { idOf, text } from '../../kernel/wire/fields.ts';
import { timestamp } from '../../kernel/wire/moments.ts';
import { findEmployee } from '../employees/queries.ts';
import type { Filters } from './entries.ts';

const moment = (description: string) =>
  timestamp.meta({ description, format: 'date-time', examples: ['2026-03-01T09:00:00Z'] }).optional();

/** What the list and the files are filtered by. */
export const filterFields = {
  company_id: idOf('company'),
  employee_id: idOf('employee').optional(),
  operation: text({ max: 100 })
    .meta({ description: 'Rows of this operation only, as the client names it', examples: ['tasks.update'] })
    .optional(),
  subject: z
    .string()
    .regex(/^[a-z_]{1,40}(:[1-9]\d{0,14})?$/, 'must be a kind of thing, or a kind and an identifier, such as task:12')
    .meta({ description: 'Rows about things of this kind, or about one thing', examples: ['task:12'] })
    .optional(),
  from: moment('Rows from this moment on'),
  to: moment('Rows before this moment'),
};

type Given = z.output<z.ZodObject<typeof filterFields>>;

/** The filters of a caller's request; refuses another company, and an employee whom the company does not have. */
export async function readFilters(db: Db, { companyId }: Member, given: Given): Promise<Filters> {
  if (given.company_id !== companyId) throw NOT_FOUND();
  const { employee_id: employeeId, operation, subject, from, to } = given;
  if (employeeId !== undefined && !(await findEmployee(db, companyId, employeeId))) throw notFoundIn('employee_id');
  const [kind, id] = subject?.split(':') ?? [];
  const about = kind === undefined ? undefined : { kind, id: id === undefined ? undefined : Number(id) };
  return { companyId, employeeId, operation, subject: about, from, to };
}
