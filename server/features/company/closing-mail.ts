import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJob, jobHandler } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { renderMail } from '../../mail/mail-template.ts';
import { listActiveAdmins } from '../employees/queries.ts';

const dayMs = 24 * 3_600_000;
/** Admins are told again so long before the end. */
const remindedBeforeMs = 3 * dayMs;

/** Mails one admin that their company is closed, if it still is. */
export const sendClosingMail = jobHandler({
  name: 'company-closing',
  queue: 'mail',
  payload: z.object({ companyId: id, employeeId: id, closesAt: z.iso.datetime(), isReminder: z.boolean() }),
  async run({ database, clock, settings, mailer }, { companyId, employeeId, closesAt, isReminder }, { dedupeKey }) {
    const told = await findAdmin(database.forCompany(companyId).db, {
      companyId,
      employeeId,
      closesAt,
      now: clock.now(),
    });
    if (!told) return;
    const { email, company } = told;
    const end = `${closesAt.slice(0, 16).replace('T', ', ')} UTC`;
    const template = {
      template: 'company-closing',
      subject: isReminder ? `${company} is removed in three days` : `${company} was closed`,
      paragraphs: [
        isReminder
          ? `${company} is closed, and is removed with everything in it on ${end}. Nothing can bring it back then.`
          : `The owner of ${company} has closed it. Until ${end} everything can be read and exported, and nothing can be changed. Then it is removed with everything in it.`,
        'To keep what is in it, take an export: an admin asks for one with POST /api/exports/. The owner can reopen the company until then.',
      ],
      action: { label: 'Open the app', url: settings.appUrl },
      footnote: `You receive this because you are an admin of ${company}. It cannot be turned off.`,
    };
    await mailer.send(renderMail(email, template), { idempotencyKey: dedupeKey });
  },
});

/** The admin, if the company is still to end at that moment, and has not. Somebody invited may be an outsider. */
async function findAdmin(
  db: Db,
  { companyId, employeeId, closesAt, now }: { companyId: number; employeeId: number; closesAt: string; now: Date },
): Promise<{ email: string; company: string } | undefined> {
  return db
    .selectFrom('employees as e')
    .innerJoin('companies as c', 'c.company_id', 'e.company_id')
    .where('e.company_id', '=', companyId)
    .where('e.employee_id', '=', employeeId)
    .where('e.is_admin', '=', true)
    .where('e.is_active', '=', true)
    .where('e.account_id', 'is not', null)
    .where('c.closes_at', '=', new Date(closesAt))
    .where('c.closes_at', '>', now)
    .select(['e.email', 'c.name as company'])
    .executeTakeFirst();
}

/** Enqueues the mails to all admins, one now and one before the end; who has not joined by then gets none. */
export async function mailClosing(
  db: Db,
  { companyId, closesAt, now }: { companyId: number; closesAt: Date; now: Date },
): Promise<void> {
  const reminded = new Date(closesAt.getTime() - remindedBeforeMs);
  for (const employeeId of await listActiveAdmins(db, companyId))
    for (const dueAt of [now, reminded]) {
      const isReminder = dueAt === reminded;
      const payload = { companyId, employeeId, closesAt: closesAt.toISOString(), isReminder };
      const dedupeKey = `${companyId} ${employeeId} ${payload.closesAt} ${isReminder ? 'reminder' : 'closed'}`;
      await enqueueJob(db, sendClosingMail, { dedupeKey, payload, now, dueAt });
    }
}
