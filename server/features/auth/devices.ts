import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Context } from '../../kernel/context.ts';
import { ofSignInsByKey, takeMailAllowance } from '../memberships/mail-limits.ts';
import { notifyAccountOwner } from '../notices/account-notice.ts';
import { deviceOf } from '../notices/device.ts';
import { getAccountById } from './accounts.ts';

/** A device that was not used for this long counts as new. */
export const deviceLifetimeMs = 90 * 24 * 3600 * 1000;

/**
 * Records the kind of device and the network of a sign-in, and tells the account's owner of a new combination. The
 * first one of an account causes no mail.
 */
export async function recordDevice(ctx: Context & { db: Db }, accountId: number): Promise<void> {
  const { db, request, services } = ctx;
  const now = services.clock.now();
  const device = deviceOf(request.userAgent);
  const since = new Date(now.getTime() - deviceLifetimeMs);
  const { rows } = await sql<{ isKnown: boolean; isFirst: boolean }>`
    with known as (
      select device, network from account_devices where account_id = ${accountId} and last_seen_at > ${since}
    )
    insert into account_devices (account_id, device, network, last_seen_at)
    values (${accountId}, ${device}, ${request.network}, ${now})
    on conflict (account_id, device, network) do update set last_seen_at = excluded.last_seen_at
    returning
      exists (select from known where device = ${device} and network = ${request.network}) as "isKnown",
      not exists (select from known) as "isFirst"`.execute(db);
  const { isKnown, isFirst } = rows[0]!;
  if (isKnown || isFirst) return;
  const { email } = await getAccountById(db, accountId);
  await notifyAccountOwner(db, { email, notice: { kind: 'new device' }, request, now });
}

type Bound = { apiKeyId: number; companyId: number; company: string; employeeId: number };

/** Notifies an employee of the first session that a company's key opens for them. */
export async function notifyFirstSignInByKey(
  { db, request, services }: Context & { db: Db },
  { apiKeyId, companyId, company, employeeId }: Bound,
): Promise<void> {
  const now = services.clock.now();
  const first = await db
    .insertInto('api_key_sign_ins')
    .values({ company_id: companyId, api_key_id: apiKeyId, employee_id: employeeId, first_at: now })
    .onConflict((conflict) => conflict.columns(['company_id', 'api_key_id', 'employee_id']).doNothing())
    .returning('api_key_id')
    .executeTakeFirst();
  if (!first) return;
  const {
    email,
    name,
    account_id: accountId,
  } = await db
    .selectFrom('employees as e')
    .innerJoin('api_keys as k', 'k.company_id', 'e.company_id')
    .where('e.company_id', '=', companyId)
    .where('e.employee_id', '=', employeeId)
    .where('k.api_key_id', '=', apiKeyId)
    .select(['e.email', 'k.name', 'e.account_id'])
    .executeTakeFirstOrThrow();
  if (accountId === null) {
    const mail = { companyId, employeeIds: [employeeId], purpose: ofSignInsByKey, now };
    const allowed = await takeMailAllowance(db, services.tokens, mail);
    if (allowed.length === 0) return;
  }
  await notifyAccountOwner(db, { email, notice: { kind: 'signed in by key', name, company }, request, now });
}
