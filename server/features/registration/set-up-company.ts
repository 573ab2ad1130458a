import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { acrossCompanies, inCompany } from '../../../db/scope.ts';
import type { Subscription } from '../company/schemas.ts';
import { categories } from '../notifications/kinds.ts';

const trialDays = 30;
const trialPlan = 'team';

/** Makes a company with all that it is set up with: trial, default schedule, workspace, storage, notifications. */
export async function setUpCompany(
  transaction: Db,
  { name, referralCode, now }: { name: string; referralCode: string | null; now: Date },
): Promise<{ companyId: number; subscription: z.input<typeof Subscription> }> {
  // Its own row is the first that it has.
  const { company_id: companyId } = await acrossCompanies(transaction)
    .insertInto('companies')
    .values({ name, timezone: 'UTC', referral_code: referralCode, created_at: now, updated_at: now })
    .returning('company_id')
    .executeTakeFirstOrThrow();
  const db = inCompany(transaction, companyId);
  const plan = await db
    .selectFrom('plans')
    .where('code', '=', trialPlan)
    .select(['plan_id', 'storage_bytes'])
    .executeTakeFirstOrThrow();
  const endsAt = new Date(now.getTime() + trialDays * 24 * 3600 * 1000);
  const { subscription_id: subscriptionId } = await db
    .insertInto('subscriptions')
    .values({
      company_id: companyId,
      plan_id: plan.plan_id,
      status: 'trialing',
      trial: true,
      starts_at: now,
      ends_at: endsAt,
      created_at: now,
    })
    .returning('subscription_id')
    .executeTakeFirstOrThrow();

  await db
    .insertInto('schedules')
    .values({
      company_id: companyId,
      name: 'Standard week',
      is_default: true,
      weekdays: [1, 2, 3, 4, 5],
      starts_at: '09:00',
      ends_at: '17:00',
      created_at: now,
    })
    .execute();
  await db
    .insertInto('workspaces')
    .values({ company_id: companyId, name: 'Main', is_default: true, created_at: now })
    .execute();
  await db
    .insertInto('storages')
    .values({ company_id: companyId, bytes_max: plan.storage_bytes, created_at: now })
    .execute();
  await db
    .insertInto('notification_setups')
    .values(
      categories.map((category) => ({
        company_id: companyId,
        category,
        in_app: true,
        email: category === 'message',
      })),
    )
    .execute();

  return {
    companyId,
    subscription: { _id: subscriptionId, plan: trialPlan, status: 'trialing', startsAt: now, endsAt, trial: true },
  };
}
