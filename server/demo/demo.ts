import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { transact } from '../../db/transaction.ts';
import { findAccount } from '../features/auth/accounts.ts';
import type { Services } from '../kernel/context.ts';
import { replacePrivate } from '../platform/private-file.ts';
import { seedPeople } from './seed-people.ts';
import { seedComments } from './seed-comments.ts';
import { seedHours } from './seed-hours.ts';
import { seedPeriods } from './seed-periods.ts';
import { seedWork } from './seed-work.ts';
import { readDemoSignIn, type DemoSignIn } from './sign-in-file.ts';

/**
 * Creates the demo company in one transaction, unless a company exists. Of several nodes that start at once one creates
 * it. Its admin's password is generated here and stored in plain text in `file` only.
 */
export async function seedDemo(services: Services, file: string): Promise<void> {
  const { database, clock, passwords, settings } = services;
  const password = randomBytes(9).toString('base64url');
  const passwordHash = await passwords.hash(password);
  const now = clock.now();
  await transact(database.acrossCompanies, async (db) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('demo company', 0))`.execute(db);
    const { rows } = await sql`select from companies where company_id > 0 limit 1`.execute(db);
    if (rows.length === 0) {
      const staff = await seedPeople(db, { passwordHash, now });
      const taskIds = await seedWork(db, staff, now);
      await seedHours(db, staff, now);
      await seedPeriods(db, staff, now);
      await seedComments(db, staff, { taskIds, settings, now });
      // Before the commit: a company without a known password would be worse than a password without a company.
      replacePrivate(file, `${JSON.stringify({ email: staff.adminEmail, password })}\n`);
    }
  });
  services.wakeWorker();
}

/** The generated sign-in while it works: not after the password was changed or the company was deleted. */
export async function findDemoSignIn(services: Services, file: string): Promise<DemoSignIn | undefined> {
  const signIn = readDemoSignIn(file);
  if (signIn === undefined) return undefined;
  const { email, password } = signIn;
  const account = await findAccount(services.database.db, email);
  const works = await services.passwords.matches(account?.password_hash ?? null, password);
  return works ? { email, password } : undefined;
}
