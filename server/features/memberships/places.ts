import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { acrossCompanies } from '../../../db/scope.ts';

/* What says of which companies somebody is, or may be: read across companies, by the account or the address. */

/** A company that an account belongs to, and as whom. */
export type Place = { company_id: number; company_name: string; employee_id: number; isAdmin: boolean };

/** Where an account is an active employee: it accepted, and the company has not ended it. */
export async function listPlaces(db: Db, accountId: number): Promise<Place[]> {
  return acrossCompanies(db)
    .selectFrom('employees as e')
    .innerJoin('companies as c', 'c.company_id', 'e.company_id')
    .where('e.account_id', '=', accountId)
    .where('e.is_active', '=', true)
    .where('e.is_deleted', '=', false)
    .select(['c.company_id', 'c.name as company_name', 'e.employee_id', 'e.is_admin as isAdmin'])
    .orderBy('c.company_id')
    .execute();
}

/** Every employee that an account was joined to, whatever became of them. */
export async function listMemberships(db: Db, accountId: number): Promise<{ companyId: number; employeeId: number }[]> {
  return acrossCompanies(db)
    .selectFrom('employees as e')
    .innerJoin('companies as c', 'c.company_id', 'e.company_id')
    .where('e.account_id', '=', accountId)
    .select(['c.company_id as companyId', 'e.employee_id as employeeId'])
    .execute();
}

export type OpenInvitation = Place & {
  invitation_id: number;
  invitedBy: string | null;
  token_hash: string | null;
  created_at: Date;
};

/** The open invitations to an address, the oldest first: those of active employees only. */
export async function listOpenInvitations(db: Db, email: string): Promise<OpenInvitation[]> {
  return acrossCompanies(db)
    .selectFrom('invitations as i')
    .innerJoin('employees as e', (join) =>
      join.onRef('e.company_id', '=', 'i.company_id').onRef('e.employee_id', '=', 'i.employee_id'),
    )
    .innerJoin('companies as c', 'c.company_id', 'i.company_id')
    .leftJoin('employees as inviter', (join) =>
      join.onRef('inviter.company_id', '=', 'i.company_id').onRef('inviter.employee_id', '=', 'i.invited_by_id'),
    )
    .where('i.email', '=', email)
    .where('i.ended_at', 'is', null)
    .where('e.is_active', '=', true)
    .where('e.is_deleted', '=', false)
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

/** Whether a company waits for the owner of this address: then mail to it is worth sending before there is an account. */
export async function isInvited(db: Db, email: string): Promise<boolean> {
  const { rows } = await sql`
    select from invitations as i
    join employees as e on e.company_id = i.company_id and e.employee_id = i.employee_id
    where i.email = ${email} and i.ended_at is null and e.is_active and not e.is_deleted
    limit 1`.execute(acrossCompanies(db));
  return rows.length > 0;
}
