import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import type { Services } from '../../kernel/context.ts';
import { enqueueJob } from '../../kernel/job.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { deleteUnusedAccounts, lockAccounts } from '../memberships/delete-account.ts';
import { lockAdmins, requireAnotherAdmin } from './employment.ts';
import {
  clearEmployee,
  clearStoredAnswers,
  deleteOwnRows,
  eraseTraces,
  sealIdentity,
  type ErasedIdentity,
} from './erased.ts';
import { LAST_ADMIN, OWNER_NOT_ERASED } from './errors.ts';
import { employeeErased } from './events.ts';
import { employeeOffboarded } from './offboard-employee.ts';
import { getEmployee, lockEmployee, toEmployee, type LockedEmployee } from './queries.ts';
import { recordEmployee } from './record-change.ts';
import { Employee } from './schemas.ts';

/** What others write at the same moment is looked through a second time. */
const repeatedAfterMs = 10 * 60_000;

export const eraseEmployee = admin('no key')
  .meta(
    rest('POST /api/employees/{_id}/erase/', {
      section: 'Additions',
      summary: 'Erase a person',
      description:
        'For good: it cannot be taken back. The employee becomes "Former employee" with their number, deleted, with an address that receives no mail; phone, salary, birthday, picture and the rest are gone, and so are their sessions, API keys, invitations, preferences and notifications, and their account, if no other company uses it. A running timer stops and its time is logged. Exports of the company are deleted, since the person is in them. Logs, tasks, periods, amounts and all totals stay, and so do the texts that they wrote about work. Within seconds, a job replaces their name and address in comments and notifications of others, in events and in messages of webhooks, and erases their values and networks from the audit log. [A guide](/docs/guides/personal-data) has the whole list. Erasing an erased employee changes nothing. The last active admin and the owner of the company cannot be erased.',
      errors: [LAST_ADMIN, OWNER_NOT_ERASED, SESSION_REQUIRED, SESSION_BOUND],
      changes: [employeeErased],
      securityAct: 'employee erased',
      example: { _id: 42 },
    }),
  )
  .input(z.object({ _id: idOf('colleague') }))
  .output(Employee)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId: actorId } = caller;
    const { _id: employeeId } = input;
    accountOf(caller);

    await lockAdmins(db, companyId);
    const { account_id: accountId } = await getEmployee(db, companyId, employeeId);
    if (accountId !== null) await lockAccounts(db, [accountId]);
    const row = await lockEmployee(db, companyId, employeeId);
    // Read after the locks, so that no timer that this stops started later, and no mail that the account caused is younger.
    const now = services.clock.now();
    if (row.erased_at === null) {
      await requireNotOwner(db, row);
      await requireAnotherAdmin(db, row);
      await erase(db, row, { actorId, now, tokens: services.tokens });
    }
    const after = await getEmployee(db, companyId, employeeId);
    if (row.erased_at === null)
      recordEmployee(db, employeeErased, after, { actorId, at: now, settings: services.settings });
    return toEmployee(after, caller, services.settings);
  });

/** Throws for the owner of the company; call {@link lockAdmins} first. */
async function requireNotOwner(db: Db, { company_id: companyId, employee_id: employeeId }: LockedEmployee) {
  const owned = await db
    .selectFrom('companies')
    .where('company_id', '=', companyId)
    .where('owner_id', '=', employeeId)
    .select('company_id')
    .executeTakeFirst();
  if (owned) throw OWNER_NOT_ERASED();
}

async function erase(
  db: Db,
  row: LockedEmployee,
  { actorId, now, tokens }: { actorId: number; now: Date; tokens: Services['tokens'] },
): Promise<void> {
  const employee = { companyId: row.company_id, employeeId: row.employee_id };
  const invited = await db
    .selectFrom('invitations')
    .where('company_id', '=', employee.companyId)
    .where('employee_id', '=', employee.employeeId)
    .select('email')
    .execute();
  await deleteOwnRows(db, employee);
  await clearEmployee(db, { ...employee, pictureId: row.picture_id, now });
  const accounts = await deleteUnusedAccounts(db, row.account_id === null ? [] : [row.account_id]);
  await clearStoredAnswers(db, employee.companyId, now);
  // The person is in the files of exports.
  await db.deleteFrom('exports').where('company_id', '=', employee.companyId).execute();

  const leftAt = now.toISOString();
  const left = {
    dedupeKey: `${employee.companyId} ${employee.employeeId} ${leftAt}`,
    payload: { ...employee, leftAt },
  };
  await enqueueJob(db, employeeOffboarded, { ...left, now });
  const identity: ErasedIdentity = {
    names: [row.name, `${row.first_name} ${row.last_name}`],
    addresses: [row.email, ...invited.map(({ email }) => email), ...accounts.map(({ email }) => email)],
    accountAddress: accounts[0]?.email,
  };
  const payload = {
    ...employee,
    accountId: accounts[0]?.account_id ?? null,
    actorId,
    erasedAt: now.toISOString(),
    sealed: await sealIdentity(tokens, employee, identity),
  };
  for (const dueAt of [now, new Date(now.getTime() + repeatedAfterMs)])
    await enqueueJob(db, eraseTraces, {
      dedupeKey: `${employee.companyId} ${employee.employeeId} ${dueAt.toISOString()}`,
      payload,
      now,
      dueAt,
    });
}
