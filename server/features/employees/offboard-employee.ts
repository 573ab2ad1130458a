import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { defineJob, enqueueJob } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { endAccess, type Ending } from '../memberships/end-access.ts';

/** Runs after an employee was deactivated or deleted, for other features: a running timer stops. */
export const employeeOffboarded = defineJob({
  name: 'employee-offboarded',
  payload: z.object({ companyId: id, employeeId: id, leftAt: z.iso.datetime() }),
});

/** Ends the sessions and API keys of a deactivated or deleted employee, and enqueues the rest. */
export async function offboardEmployee(
  db: Db,
  employee: { companyId: number; employeeId: number },
  ending: Ending,
): Promise<void> {
  await endAccess(db, employee, ending);
  const { now } = ending;
  const leftAt = now.toISOString();
  const dedupeKey = `${employee.companyId} ${employee.employeeId} ${leftAt}`;
  await enqueueJob(db, employeeOffboarded, { dedupeKey, payload: { ...employee, leftAt }, now });
}
