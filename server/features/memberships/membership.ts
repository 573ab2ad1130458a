import type { Db } from '../../../db/open.ts';
import { Superseded } from '../../errors/errors.ts';
import type { Tokens } from '../../platform/tokens.ts';
import { notifyAccountOwner } from '../notices/account-notice.ts';
import { endAccess, type EmployeeRef, type Ending } from './end-access.ts';
import { mailInvitations } from './invitation-mail.ts';
import { takeInvitationMail } from './mail-limits.ts';

/*
 * The life of a membership: what links an account to an employee, and what unlinks them.
 *
 * - A company invites. The employee has no account until the owner of the address accepts.
 * - Accepting links the account of exactly that address. Nothing else writes `employees.account_id`.
 * - A change of the address unlinks them: the employee is invited again, and the account keeps everything of its own.
 */

type NewInvitation = EmployeeRef & { email: string; invitedById: number; now: Date; tokens: Tokens };

/**
 * Invites an employee at their current address; an earlier invitation is withdrawn, unless it is to the same address and this
 * one may not be mailed any more: the link that was mailed stays good. While the employee is not active, it is not mailed:
 * {@link inviteActivated} does that.
 */
export async function inviteEmployee(
  db: Db,
  { companyId, employeeId, email, invitedById, now, tokens }: NewInvitation,
  { isActive }: { isActive: boolean },
): Promise<void> {
  const isMailed = isActive && (await takeInvitationMail(db, tokens, { companyId, email, now }));
  if (isActive && !isMailed && (await isMailedTo(db, { companyId, employeeId, email }))) return;
  await endOpenInvitation(db, { companyId, employeeId }, 'withdrawn', now);
  const { invitation_id: invitationId } = await db
    .insertInto('invitations')
    .values({
      company_id: companyId,
      employee_id: employeeId,
      email,
      invited_by_id: invitedById,
      mailed_at: isMailed ? now : null,
      created_at: now,
    })
    .returning('invitation_id')
    .executeTakeFirstOrThrow();
  if (isMailed) await mailInvitations(db, companyId, [invitationId], now);
}

/** Whether an open invitation of the employee has been mailed to the address, or is about to be. */
async function isMailedTo(db: Db, { companyId, employeeId, email }: EmployeeRef & { email: string }): Promise<boolean> {
  const open = await db
    .selectFrom('invitations')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('email', '=', email)
    .where('mailed_at', 'is not', null)
    .where('ended_at', 'is', null)
    .select('invitation_id')
    .executeTakeFirst();
  return open !== undefined;
}

/**
 * Invites an employee without an account who has become active, unless they have the link of their invitation already, or have
 * answered it. An inactive employee of an imported company was not invited yet.
 */
export async function inviteActivated(db: Db, invitation: NewInvitation): Promise<void> {
  const last = await db
    .selectFrom('invitations')
    .where('company_id', '=', invitation.companyId)
    .where('employee_id', '=', invitation.employeeId)
    .select(['token_hash', 'ended_at'])
    .orderBy('invitation_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last && (last.ended_at !== null || last.token_hash !== null)) return;
  await inviteEmployee(db, invitation, { isActive: true });
}

/** Links the account to the invited employee. Returns false if they cannot be linked any more. */
export async function acceptInvitation(
  db: Db,
  { companyId, employeeId, accountId, now }: EmployeeRef & { accountId: number; now: Date },
): Promise<boolean> {
  const joined = await db
    .updateTable('employees')
    .set({ account_id: accountId })
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('account_id', 'is', null)
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    // The address may have changed since the invitation was read.
    .where('email', '=', (eb) => eb.selectFrom('accounts').select('email').where('account_id', '=', accountId))
    .returning('employee_id')
    .executeTakeFirst();
  if (!joined) return false;
  // The account is linked by now, so the mutation must not commit.
  if (!(await endOpenInvitation(db, { companyId, employeeId }, 'accepted', now)))
    throw new Superseded('the invitation was ended');
  return true;
}

/** Unlinks an employee from their account; the employee's row must be locked. */
export async function unlinkAccount(
  db: Db,
  employee: EmployeeRef,
  { actorId, now }: Omit<Ending, 'because'>,
): Promise<void> {
  const parted = await db
    .selectFrom('employees as e')
    .innerJoin('accounts as a', 'a.account_id', 'e.account_id')
    .innerJoin('companies as c', 'c.company_id', 'e.company_id')
    .where('e.company_id', '=', employee.companyId)
    .where('e.employee_id', '=', employee.employeeId)
    .select(['a.email', 'c.name as company'])
    .executeTakeFirst();
  if (parted)
    await notifyAccountOwner(db, { email: parted.email, notice: { kind: 'unlinked', company: parted.company }, now });
  await db
    .updateTable('employees')
    .set({ account_id: null })
    .where('company_id', '=', employee.companyId)
    .where('employee_id', '=', employee.employeeId)
    .execute();
  // They are of the former owner of the record: the next one has asked for no mail.
  await db
    .deleteFrom('notification_preferences')
    .where('company_id', '=', employee.companyId)
    .where('employee_id', '=', employee.employeeId)
    .execute();
  await endAccess(db, employee, { because: 'address changed by an admin', actorId, now });
}

/** Ends the open invitation of an employee; returns whether there was one. */
export async function endOpenInvitation(
  db: Db,
  { companyId, employeeId }: EmployeeRef,
  outcome: 'accepted' | 'declined' | 'withdrawn',
  now: Date,
): Promise<boolean> {
  const ended = await db
    .updateTable('invitations')
    .set({ ended_at: now, outcome, token_hash: null })
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('ended_at', 'is', null)
    .returning('invitation_id')
    .executeTakeFirst();
  return ended !== undefined;
}
