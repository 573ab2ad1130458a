import type { Db } from '../../db/open.ts';
import { getOrInsertAccount } from '../features/auth/accounts.ts';
import { foldForSearch, insertEmployee } from '../features/employees/queries.ts';
import { setUpCompany } from '../features/registration/set-up-company.ts';
import { company, people, type PersonKey } from './company.ts';

export type Staff = {
  companyId: number;
  employeeIds: Record<PersonKey, number>;
  emails: Record<PersonKey, string>;
  adminEmail: string;
};

const admin: PersonKey = 'amara';
const dayMs = 24 * 3600 * 1000;

export const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs);

/** `2026-03-01` for a moment, in UTC. */
export const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

/** Creates the company and its employees; all but the admin sign in with a code. */
export async function seedPeople(db: Db, { passwordHash, now }: { passwordHash: string; now: Date }): Promise<Staff> {
  const since = daysBefore(now, company.daysAgo);
  const { companyId } = await setUpCompany(db, { name: company.name, referralCode: null, now: since });
  const ids = new Map<PersonKey, number>();
  const emails = new Map<PersonKey, string>();
  for (const [index, key] of (Object.keys(people) as PersonKey[]).entries()) {
    const email = emailOf(key);
    emails.set(key, email);
    ids.set(key, await seedPerson(db, { companyId, key, email, index, since }));
  }
  const staff: Staff = {
    companyId,
    employeeIds: Object.fromEntries(ids) as Staff['employeeIds'],
    emails: Object.fromEntries(emails) as Staff['emails'],
    adminEmail: emailOf(admin),
  };
  await db.updateTable('accounts').set({ password_hash: passwordHash }).where('email', '=', staff.adminEmail).execute();
  await db
    .updateTable('companies')
    .set({ owner_id: staff.employeeIds[admin], timezone: company.timezone })
    .where('company_id', '=', companyId)
    .execute();
  return staff;
}

async function seedPerson(
  db: Db,
  {
    companyId,
    key,
    email,
    index,
    since,
  }: { companyId: number; key: PersonKey; email: string; index: number; since: Date },
): Promise<number> {
  const { first, last, designation, salary, ...standing } = {
    isAdmin: false,
    isTeamLeader: false,
    isActive: true,
    ...people[key],
  };
  const { account_id: accountId } = await getOrInsertAccount(db, email, since);
  await db.updateTable('accounts').set({ email_verified_at: since }).where('account_id', '=', accountId).execute();
  const employeeId = await insertEmployee(db, {
    companyId,
    accountId,
    email,
    firstName: first,
    lastName: last,
    designation,
    salary,
    isAdmin: standing.isAdmin,
    now: since,
  });
  await db
    .updateTable('employees')
    .set({
      is_team_leader: standing.isTeamLeader,
      is_active: standing.isActive,
      date_of_joining: dayOf(daysBefore(since, 120 * (7 - index))),
      country_code: '+351',
    })
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .execute();
  return employeeId;
}

/** `mei-ling.chen@demo.example`: a reserved domain, so mail to it reaches nobody. */
function emailOf(key: PersonKey): string {
  const { first, last } = people[key];
  return `${foldForSearch(`${first}.${last}`).replaceAll(' ', '')}@demo.example`;
}
