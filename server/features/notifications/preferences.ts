import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Settings } from '../../kernel/context.ts';
import { categories } from './kinds.ts';
import type { Recipient } from './queries.ts';

const Channels = z.object({
  inApp: z.boolean().meta({ description: 'Shown in the list of notifications' }),
  email: z.boolean().meta({
    description:
      'Sent by mail as well: what concerns the reader directly (`priorty` is `primary`) and notices, but not what they merely follow; of `message` that is mentions. What is told at once is one mail, and beyond 20 an hour there are none',
  }),
});

/** The link to the mail preferences, for the end of each mail. */
export const preferencesLink = ({ appUrl }: Settings) => ({
  label: 'Change your notification preferences',
  url: `${appUrl}/notification-preferences`,
});

/** A person's preferences for each category; the company's apply where they have set none. */
export const Preferences = z
  .object({ task: Channels, project: Channels, need_attention: Channels, message: Channels, notice: Channels })
  .meta({
    id: 'NotificationPreferences',
    description:
      'For each category. At first everything is shown in the app, and only mentions (`message`) are mailed, so that nobody is flooded.',
  });

type Preference = { category: string; in_app: boolean; email: boolean };

export async function listPreferences(
  db: Db,
  { companyId, employeeId }: Recipient,
): Promise<z.input<typeof Preferences>> {
  const { rows } = await sql<Preference>`
    select s.category, coalesce(p.in_app, s.in_app) as in_app, coalesce(p.email, s.email) as email
    from notification_setups s
    left join notification_preferences p
      on p.company_id = s.company_id and p.category = s.category and p.employee_id = ${employeeId}
    where s.company_id = ${companyId}`.execute(db);
  const channels = new Map(rows.map((row) => [row.category, { inApp: row.in_app, email: row.email }]));
  const entries = categories.map((category) => [category, channels.get(category) ?? { inApp: true, email: false }]);
  return Object.fromEntries(entries) as z.input<typeof Preferences>;
}
