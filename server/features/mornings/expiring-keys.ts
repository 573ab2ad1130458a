import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Settings } from '../../kernel/context.ts';
import { enqueueJobs, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { renderMail } from '../../mail/mail-template.ts';

/*
 * The mail that tells an employee that an API key of theirs expires, on the morning a week before.
 *
 * - A key is marked in the transaction that enqueues its mail, so it has one mail, whichever nodes run.
 * - A key that lives for a week or less has none: its end was near when it was made. Nor has one that a client renews.
 * - What a morning has missed, because no node ran or the company was closed, the next one makes good.
 */

const ExpiringKey = z.object({ companyId: id, apiKeyId: id });

/** Mails the employee, if the key is still to expire. */
const sendExpiryMail = jobHandler({
  name: 'api-key-expiry',
  queue: 'mail',
  payload: ExpiringKey,
  async run({ database, clock, settings, mailer }, key, { dedupeKey }) {
    const found = await findKey(database.forCompany(key.companyId).db, key, clock.now());
    if (found) await mailer.send(render(found, settings), { idempotencyKey: dedupeKey });
  },
});

type Found = NonNullable<Awaited<ReturnType<typeof findKey>>>;

async function findKey(db: Db, { companyId, apiKeyId }: z.infer<typeof ExpiringKey>, now: Date) {
  return db
    .selectFrom('api_keys as k')
    .innerJoin('employees as e', (join) =>
      join.onRef('e.company_id', '=', 'k.company_id').onRef('e.employee_id', '=', 'k.employee_id'),
    )
    .innerJoin('accounts as a', 'a.account_id', 'e.account_id')
    .innerJoin('companies as c', 'c.company_id', 'k.company_id')
    .where('k.company_id', '=', companyId)
    .where('k.api_key_id', '=', apiKeyId)
    .where('k.revoked_at', 'is', null)
    .where('k.expires_at', '>', now)
    .where('e.is_active', '=', true)
    .where('e.is_deleted', '=', false)
    .select(['a.email', 'c.name as company', 'k.name', 'k.key_start', 'k.scopes', 'k.expires_at', 'k.last_used_at'])
    .executeTakeFirst();
}

function render({ email, company, name, key_start, scopes, expires_at, last_used_at }: Found, { appUrl }: Settings) {
  const used = last_used_at === null ? 'It was never used.' : `It was last used on ${inUtc(last_used_at)}.`;
  return renderMail(email, {
    template: 'api-key-expiry',
    subject: `Your API key “${name}” expires on ${inUtc(expires_at!).slice(0, 10)}`,
    paragraphs: [
      `The API key “${name}” (${key_start}…) that you made in ${company} expires on ${inUtc(expires_at!)}. What uses it is refused from then on. ${used}`,
      `If it is still needed, make another key with the same scopes (${scopes.join(', ')}), use it in its place, and revoke this one. If not, there is nothing to do.`,
    ],
    action: { label: 'Open the app', url: appUrl },
    footnote: `You receive this because you made this key in ${company}. It cannot be turned off.`,
  });
}

const inUtc = (moment: Date): string => `${moment.toISOString().slice(0, 16).replace('T', ', ')} UTC`;

/** Marks the keys of a company that expire within a week of its day, and enqueues their mails. */
export async function mailExpiringKeys(
  db: Db,
  { companyId, day, now }: { companyId: number; day: string; now: Date },
): Promise<void> {
  const { rows } = await sql<{ apiKeyId: number }>`
    update api_keys as k set expiry_mailed_at = ${now}
    from companies as c
    where c.company_id = ${companyId} and k.company_id = c.company_id and k.revoked_at is null and k.client_id is null
      and k.expiry_mailed_at is null and k.expires_at > ${now} and k.expires_at < local_day_start(${day}::date + 8, c.timezone)
      and k.created_at < k.expires_at - interval '7 days'
    returning k.api_key_id as "apiKeyId"`.execute(db);
  const jobs = rows.map(({ apiKeyId }) => ({
    dedupeKey: `${companyId} ${apiKeyId}`,
    payload: { companyId, apiKeyId },
  }));
  await enqueueJobs(db, sendExpiryMail, jobs, now);
}

export const handlers: AnyJobHandler[] = [sendExpiryMail];
