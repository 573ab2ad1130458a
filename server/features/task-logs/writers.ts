import type { Member } from '../../kernel/context.ts';
import { FORBIDDEN } from '../../errors/errors.ts';

/** A log may be written by its employee, by a team leader or by an admin. */
export function checkMayWrite(caller: Member, employeeId: number): void {
  if (caller.employeeId === employeeId || caller.isTeamLeader || caller.isAdmin) return;
  throw FORBIDDEN({ detail: 'Only a team leader or an admin may write the time of somebody else.' });
}
