import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { acrossCompanies } from '../../../db/scope.ts';
import type { Membership } from './account-memberships.ts';

export type OpenInvitation = Membership & {
  invitation_id: number;
  invitedBy: string | null;
  token_hash: string | null;
  created_at: Date;
};

/** Invitations of active employees that were neither answered nor withdrawn. */
export function selectOpenInvitations(db: Db) {
  return (
    db
      .selectFrom('invitations as i')
      .innerJoin('employees as e', (join) =>
        join.onRef('e.company_id', '=', 'i.company_id').onRef('e.employee_id', '=', 'i.employee_id'),
      )
      .innerJoin('companies as c', 'c.company_id', 'i.company_id')
      .leftJoin('employees as inviter', (join) =>
        join.onRef('inviter.company_id', '=', 'i.company_id').onRef('inviter.employee_id', '=', 'i.invited_by_id'),
      )
      .where('i.ended_at', 'is', null)
      .where('e.is_active', '=', true)
      .where('e.is_deleted', '=', false)
      // Nobody joins a closed company.
      .where('c.closes_at', 'is', null)
  );
}

/** The open invitations to an address, the oldest first. */
export async function listOpenInvitations(db: Db, email: string): Promise<OpenInvitation[]> {
  return selectOpenInvitations(acrossCompanies(db))
    .where('i.email', '=', email)
    .select([
      'i.invitation_id',
      'i.token_hash',
      'i.created_at',
      'c.company_id',
      'c.name as company_name',
      'e.employee_id',
      'e.is_admin as isAdmin',
      'inviter.name as invitedBy',
    ])
    .orderBy('i.created_at')
    .orderBy('i.invitation_id')
    .execute();
}

/** Whether an address is invited: then it can use a code although it has no account yet. */
export async function isInvited(db: Db, email: string): Promise<boolean> {
  const { rows } = await sql`
    select from invitations as i
    join employees as e on e.company_id = i.company_id and e.employee_id = i.employee_id
    where i.email = ${email} and i.ended_at is null and e.is_active and not e.is_deleted
    limit 1`.execute(acrossCompanies(db));
  return rows.length > 0;
}
