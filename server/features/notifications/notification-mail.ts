import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJobs, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { renderMail } from '../../mail/mail-template.ts';
import { categories } from './kinds.ts';
import type { NewNotification } from './notify.ts';
import { preferencesLink } from './preferences.ts';

/*
 * Notifications that a person also receives by mail. Their rules:
 *
 * - Mail is sent for what concerns the reader directly (`primary`) and for news of the company (`others`), never for
 *   what they merely follow. Mentions have a separate mail.
 * - Notifications that a person gets at once, such as all tasks that are due tomorrow, are one mail.
 * - A person gets at most 20 such mails an hour; further notifications are in the app only.
 * - A person who has not accepted an invitation may be an outsider, and gets none.
 */

const hourlyMax = 20;
/** The most notifications that one mail lists; for the others it gives their number. */
const listedMax = 20;
const mailedPriorities = new Set<NewNotification['priority']>(['primary', 'others']);

export const sendNotificationMail = jobHandler({
  name: 'notification-mail',
  queue: 'mail',
  payload: z.object({
    companyId: id,
    employeeId: id,
    category: z.enum(categories),
    count: z.int(),
    listed: z.array(z.object({ title: z.string(), message: z.string(), link: z.string().nullable() })).min(1),
  }),
  async run({ database, mailer, settings }, payload, { dedupeKey }) {
    const recipient = await findRecipient(database.forCompany(payload.companyId).db, payload);
    if (!recipient?.wants_mail) return;
    const { listed, count } = payload;
    const [first] = listed;
    const template = {
      template: 'notification',
      ...(count === 1 ? wordsOfOne(first!) : wordsOfMany(listed, count)),
      action:
        count === 1 && first!.link !== null
          ? { label: 'Open it', url: first!.link }
          : { label: 'Open the app', url: settings.appUrl },
      footnote: `You receive this because your notification preferences for ${recipient.company} ask for mail of this kind.`,
      footlink: preferencesLink(settings),
    };
    await mailer.send(renderMail(recipient.email, template), { idempotencyKey: dedupeKey });
  },
});

type Listed = { title: string; message: string };

const wordsOfOne = ({ title, message }: Listed) => ({ subject: title, paragraphs: [`${title}.`, message] });

const wordsOfMany = (listed: Listed[], count: number) => ({
  subject: `${listed[0]!.title}, and ${count - 1} more`,
  paragraphs: [
    listed.map(({ title }) => `- ${title}`).join('\n'),
    ...(count > listed.length ? [`There are ${count - listed.length} more in the app.`] : []),
  ],
});

/** Enqueues mails about new notifications for people who want them and are below the hourly limit. */
export async function mailNotifications(
  db: Db,
  companyId: number,
  news: readonly NewNotification[],
  now: Date,
): Promise<void> {
  const isMailed = (one: NewNotification) => mailedPriorities.has(one.priority) && one.isMention !== true;
  const groups = [...Map.groupBy(news.filter(isMailed), (one) => `${one.recipientId} ${one.category}`).values()];
  if (groups.length === 0) return;
  const recipientIds = groups.map(([first]) => first!.recipientId);
  const within = await takeAllowance(db, companyId, recipientIds, now);
  const mails = groups
    .filter(([first]) => within.has(first!.recipientId))
    .map((group) => {
      const { recipientId: employeeId, category, cause } = group[0]!;
      const listed = group.slice(0, listedMax).map(({ title, message, link }) => ({ title, message, link }));
      return {
        dedupeKey: `${companyId} ${employeeId} ${cause}`,
        payload: { companyId, employeeId, category, count: group.length, listed },
      };
    });
  await enqueueJobs(db, sendNotificationMail, mails, now);
}

/** Counts one more mail for each person, and returns those within the limit. */
async function takeAllowance(
  db: Db,
  companyId: number,
  employeeIds: readonly number[],
  now: Date,
): Promise<Set<number>> {
  const hasEnded = sql`m.hour_began_at <= excluded.hour_began_at - interval '1 hour'`;
  const { rows } = await sql<{ employee_id: number; count: number }>`
    insert into notification_mails as m (company_id, employee_id, hour_began_at, count)
    select ${companyId}::bigint, employee_id, ${now}::timestamptz, 1
    from unnest(${employeeIds}::bigint[]) as mailed (employee_id) group by employee_id order by employee_id
    on conflict (company_id, employee_id) do update set
      hour_began_at = case when ${hasEnded} then excluded.hour_began_at else m.hour_began_at end,
      count = case when ${hasEnded} then 1 else m.count + 1 end
    returning employee_id, count`.execute(db);
  return new Set(rows.filter(({ count }) => count <= hourlyMax).map((row) => row.employee_id));
}

/** The recipient, if they are active, have joined the company and still want such mail. */
async function findRecipient(
  db: Db,
  { companyId, employeeId, category }: { companyId: number; employeeId: number; category: string },
): Promise<{ email: string; company: string; wants_mail: boolean } | undefined> {
  const { rows } = await sql<{ email: string; company: string; wants_mail: boolean }>`
    select e.email, c.name as company, coalesce(p.email, s.email, false) as wants_mail
    from employees as e
    join companies as c on c.company_id = e.company_id
    left join notification_preferences as p
      on p.company_id = e.company_id and p.employee_id = e.employee_id and p.category = ${category}
    left join notification_setups as s on s.company_id = e.company_id and s.category = ${category}
    where e.company_id = ${companyId} and e.employee_id = ${employeeId}
      and e.is_active and not e.is_deleted and e.account_id is not null`.execute(db);
  return rows[0];
}

export const handlers: AnyJobHandler[] = [sendNotificationMail];
