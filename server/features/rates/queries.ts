import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import { notFoundIn } from '../../errors/errors.ts';
import { moneyOf } from '../../kernel/wire/money.ts';
import { findEmployee } from '../employees/queries.ts';
import { isProject } from '../projects/queries.ts';
import { findVisibleTask } from '../tasks/queries.ts';
import type { Rate } from './schemas.ts';

type RateRow = Selectable<Schema['rates']>;

export const rateColumns = [
  'company_id',
  'rate_id',
  'task_id',
  'project_id',
  'employee_id',
  'valid_from',
  'minor_units',
  'currency',
  'created_at',
] as const;

export function toRate(row: RateRow): z.input<typeof Rate> {
  return {
    _id: row.rate_id,
    company_id: row.company_id,
    task_id: row.task_id,
    project_id: row.project_id,
    employee_id: row.employee_id,
    validFrom: row.valid_from,
    hourlyRate: moneyOf(row.minor_units, row.currency),
    createdAt: row.created_at,
  };
}

export type RateSubject = {
  task_id?: number;
  project_id?: number;
  employee_id?: number;
};

/** Refuses a subject that the company does not have. */
export async function checkSubject(db: Db, companyId: number, subject: RateSubject): Promise<void> {
  const { task_id: taskId, project_id: projectId, employee_id: employeeId } = subject;
  if (taskId !== undefined && !(await findVisibleTask(db, companyId, taskId))) throw notFoundIn('task_id');
  if (projectId !== undefined && !(await isProject(db, companyId, projectId))) throw notFoundIn('project_id');
  if (employeeId !== undefined && !(await findEmployee(db, companyId, employeeId))) throw notFoundIn('employee_id');
}
