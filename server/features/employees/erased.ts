import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Services } from '../../kernel/context.ts';
import { defineJob } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { seal, unseal } from '../../platform/seal.ts';
import type { EmployeeRef } from '../memberships/end-access.ts';
import { searchTextOf } from './queries.ts';

/*
 * What becomes of an employee who is erased, and of what belongs to nobody but them. Texts, events and the audit log follow in a
 * job: see features/erasure/.
 */

export const erasedNames = (employeeId: number) => ({ first_name: 'Former', last_name: `employee ${employeeId}` });

export const erasedName = (employeeId: number): string => Object.values(erasedNames(employeeId)).join(' ');

/** An address of its own that receives no mail: RFC 2606 keeps `invalid` free. */
export const erasedAddress = (employeeId: number): string => `erased-${employeeId}@erased.invalid`;

/** Replaces everything personal of an employee; the row must be locked. */
export async function clearEmployee(
  db: Db,
  { companyId, employeeId, pictureId, now }: EmployeeRef & { pictureId: string | null; now: Date },
): Promise<void> {
  const email = erasedAddress(employeeId);
  await db
    .updateTable('employees')
    .set({
      ...erasedNames(employeeId),
      account_id: null,
      email,
      own_name: null,
      phone: null,
      designation: null,
      salary: null,
      is_admin: false,
      is_team_leader: false,
      is_active: false,
      is_deleted: true,
      date_of_birth: null,
      date_of_joining: null,
      gender: null,
      country_code: null,
      picture_id: null,
      search_text: searchTextOf({ name: erasedName(employeeId), email, designation: null }),
      updated_at: now,
      erased_at: now,
    })
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .execute();
  if (pictureId !== null)
    await db.deleteFrom('pictures').where('company_id', '=', companyId).where('picture_id', '=', pictureId).execute();
}

/** Tables with rows that are of one person and of no use to others. Those that API keys opened go with the keys. */
const ownRows = [
  'sessions',
  'api_keys',
  'invitations',
  'notification_preferences',
  'notification_mails',
  'unlisted_notifications',
] as const;

/** Deletes what is told to an employee alone, and every way in. */
export async function deleteOwnRows(db: Db, { companyId, employeeId }: EmployeeRef): Promise<void> {
  for (const table of ownRows)
    await db.deleteFrom(table).where('company_id', '=', companyId).where('employee_id', '=', employeeId).execute();
  await db
    .deleteFrom('notifications')
    .where('company_id', '=', companyId)
    .where('recipient_id', '=', employeeId)
    .execute();
}

/**
 * Makes the stored answers of a company unreadable: they show people, but for those of erasures, which show nobody. Their
 * requests still take effect once.
 */
export async function clearStoredAnswers(db: Db, companyId: number, until: Date): Promise<void> {
  await sql`
    update idempotent_answers set sealed_answer = ''
    where of_company = ${companyId} and created_at <= ${until} and operation <> 'employees.erase'`.execute(db);
}

/** Erases an employee from texts, events and the audit log. */
export const eraseTraces = defineJob({
  name: 'erase-traces',
  payload: z.object({
    companyId: id,
    employeeId: id,
    /** The account that was erased with the employee. */
    accountId: id.nullable(),
    actorId: id,
    erasedAt: z.iso.datetime(),
    /** An {@link ErasedIdentity}, which only the service can read. */
    sealed: z.string(),
  }),
});

/** What an erased person was called, in lists without duplicates. */
export type KnownAs = { names: string[]; addresses: string[] };

/** What the job must know of them, also the address of the account that was erased with the employee. */
export type ErasedIdentity = KnownAs & { accountAddress?: string };

type Tokens = Services['tokens'];

const keysFor = (tokens: Tokens, { companyId, employeeId }: EmployeeRef) =>
  tokens.deriveKeys('erased person', `${companyId} ${employeeId}`);

export async function sealIdentity(tokens: Tokens, person: EmployeeRef, identity: ErasedIdentity): Promise<string> {
  const [key] = keysFor(tokens, person);
  return (await seal(JSON.stringify(identity), key)).toString();
}

export async function unsealIdentity(tokens: Tokens, person: EmployeeRef, sealed: string): Promise<ErasedIdentity> {
  return JSON.parse(await unseal(Buffer.from(sealed), keysFor(tokens, person))) as ErasedIdentity;
}
