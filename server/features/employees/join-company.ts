import type { Db } from '../../../db/open.ts';
import type { Settings } from '../../kernel/context.ts';
import { acceptInvitation } from '../memberships/membership.ts';
import { type EmployeeRef } from '../memberships/end-access.ts';
import { getEmployee } from './queries.ts';
import { recordEmployeeUpdate } from './record-change.ts';

/** Accepts an invitation for the owner of its address; returns false if it was ended before. */
export async function joinCompany(
  db: Db,
  { companyId, employeeId, accountId, now }: EmployeeRef & { accountId: number; now: Date },
  settings: Pick<Settings, 'publicUrl'>,
): Promise<boolean> {
  if (!(await acceptInvitation(db, { companyId, employeeId, accountId, now }))) return false;
  const after = await getEmployee(db, companyId, employeeId);
  const before = { ...after, account_id: null };
  recordEmployeeUpdate(db, { before, after }, { actorId: employeeId, at: now, settings });
  return true;
}
