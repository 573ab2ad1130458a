import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJob, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { id } from '../../kernel/wire/fields.ts';
import { sendClosingMail } from './closing-mail.ts';
import { notify } from '../notifications/notify.ts';

/** The most recipients per transaction, so that a large company does not block other notifications for long. */
const recipientsAtOnce = 100;

const Change = z.object({ name: z.string().optional(), timezone: z.string().optional() });
type Change = z.infer<typeof Change>;

/** Notifies every active employee, except the one who did it, of the company's new name or time zone. */
const companyChanged = jobHandler({
  name: 'company-changed',
  payload: z.object({ companyId: id, actorId: id, change: z.string(), to: Change }),
  async run(services, { companyId, actorId, change, to }) {
    const { clock, database, settings } = services;
    for (let after = 0; ;) {
      const people = await database
        .forCompany(companyId)
        .db.selectFrom('employees')
        .where('company_id', '=', companyId)
        .where('employee_id', '>', after)
        .where('is_active', '=', true)
        .where('is_deleted', '=', false)
        .select('employee_id')
        .orderBy('employee_id')
        .limit(recipientsAtOnce)
        .execute();
      const notifications = people
        .filter((person) => person.employee_id !== actorId)
        .map(({ employee_id: recipientId }) => ({
          recipientId,
          cause: `company changed ${change}`,
          appType: 'hr' as const,
          category: 'notice' as const,
          priority: 'others' as const,
          ...textOf(to),
          link: settings.appUrl,
          actorId,
        }));
      await inTransaction(services, companyId, (db) => notify(db, companyId, notifications, clock.now()));
      if (people.length < recipientsAtOnce) return;
      after = people.at(-1)!.employee_id;
    }
  },
});

function textOf({ name, timezone }: Change): { title: string; message: string } {
  const days = `Its time zone is ${timezone} now: days, weeks and working time are counted in it.`;
  if (name === undefined) return { title: 'Your company has another time zone', message: days };
  return {
    title: `Your company is called ${name} now`,
    message: timezone === undefined ? 'Only the name has changed.' : days,
  };
}

/** Notifies all other employees of what has changed. */
export async function notifyCompany(
  db: Db,
  { companyId, actorId, to }: { companyId: number; actorId: number; to: Change },
  now: Date,
): Promise<void> {
  const change = randomUUID();
  await enqueueJob(db, companyChanged, { dedupeKey: change, payload: { companyId, actorId, change, to }, now });
}

export const handlers: AnyJobHandler[] = [companyChanged, sendClosingMail];
