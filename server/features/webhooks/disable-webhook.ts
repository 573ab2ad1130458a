import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJobs, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { renderMail } from '../../mail/mail-template.ts';
import { noteWebhook } from './audited-webhook.ts';
import { webhookColumns } from './queries.ts';

const Because = z.enum(['gone', 'failing']);
type Because = z.infer<typeof Because>;

const reasons: Record<Because, string> = {
  gone: 'Its receiver answered that it is gone (410).',
  failing: 'Its receiver has taken no message for five days.',
};

const sendDisabledMail = jobHandler({
  name: 'webhook-disabled',
  queue: 'mail',
  payload: z.object({ companyId: id, webhookId: id, employeeId: id, because: Because }),
  async run({ database, mailer, settings }, { companyId, webhookId, employeeId, because }, { dedupeKey }) {
    const { db } = database.forCompany(companyId);
    const recipient = await fromAdmins(db, companyId)
      .innerJoin('companies as c', 'c.company_id', 'e.company_id')
      .where('e.employee_id', '=', employeeId)
      .select(['e.email', 'c.name'])
      .executeTakeFirst();
    const webhook = await db
      .selectFrom('webhooks')
      .where('company_id', '=', companyId)
      .where('webhook_id', '=', webhookId)
      .select(['url', 'description'])
      .executeTakeFirst();
    if (!recipient || !webhook) return;
    // The rest of the URL may hold a secret.
    const { host } = new URL(webhook.url);
    const name = webhook.description === null ? host : `“${webhook.description}” (${host})`;
    const template = {
      template: 'webhook-disabled',
      subject: `A webhook of ${recipient.name} was disabled`,
      paragraphs: [
        `The webhook ${name} gets no messages any more. ${reasons[because]}`,
        'When the receiver works again, enable the webhook. What was waiting for it goes out then; what happens until then is not kept for it.',
      ],
      action: { label: 'Open the app', url: settings.appUrl },
      footnote: `You receive this because you are an admin of ${recipient.name}.`,
    };
    await mailer.send(renderMail(recipient.email, template), { idempotencyKey: dedupeKey });
  },
});

/** The active admins of a company who have joined it: somebody invited may be an outsider. */
const fromAdmins = (db: Db, companyId: number) =>
  db
    .selectFrom('employees as e')
    .where('e.company_id', '=', companyId)
    .where('e.is_admin', '=', true)
    .where('e.is_active', '=', true)
    .where('e.is_deleted', '=', false)
    .where('e.account_id', 'is not', null);

/** Disables a webhook that is enabled and still leads to `url`, and enqueues a mail to each admin; returns whether it did. */
export async function disableWebhook(
  db: Db,
  { companyId, webhookId, url, because }: { companyId: number; webhookId: number; url: string; because: Because },
  now: Date,
): Promise<boolean> {
  const disabled = await db
    .updateTable('webhooks')
    .set({ is_enabled: false, disabled_because: because, updated_at: now })
    .where('company_id', '=', companyId)
    .where('webhook_id', '=', webhookId)
    .where('url', '=', url)
    .where('is_enabled', '=', true)
    .returning(webhookColumns)
    .executeTakeFirst();
  if (!disabled) return false;
  noteWebhook(db, 'updated', { before: { ...disabled, is_enabled: true }, after: disabled });
  const admins = await fromAdmins(db, companyId).select('e.employee_id').execute();
  const mails = admins.map(({ employee_id: employeeId }) => ({
    dedupeKey: `${companyId} ${webhookId} ${now.toISOString()} ${employeeId}`,
    payload: { companyId, webhookId, employeeId, because },
  }));
  await enqueueJobs(db, sendDisabledMail, mails, now);
  return true;
}

export const handlers: AnyJobHandler[] = [sendDisabledMail];
