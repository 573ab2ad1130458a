import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { acrossCompanies, inCompany } from '../../../db/scope.ts';
import type { Subscription } from '../company/schemas.ts';
import { categories } from '../notifications/kinds.ts';

const trialDays = 30;
const trialPlan = 'team';

/** Creates a company with its trial subscription, default schedule, workspace, storage and notification settings. */
export async function setUpCompany(
  transaction: Db,
  { name, referralCode, now }: { name: string; referralCode: string | null; now: Date },
): Promise<{ companyId: number; subscription: TrialSubscription }> {
  // A new company's first row belongs to no scope of row-level security yet.
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
  const subscription = await startTrial(db, { companyId, planId: plan.plan_id, now });
  await insertDefaults(db, { companyId, storageBytes: plan.storage_bytes, now });
  return { companyId, subscription };
}

type TrialSubscription = z.input<typeof Subscription>;

async function startTrial(
  db: Db,
  { companyId, planId, now }: { companyId: number; planId: number; now: Date },
): Promise<TrialSubscription> {
  const endsAt = new Date(now.getTime() + trialDays * 24 * 3600 * 1000);
  const { subscription_id: _id } = await db
    .insertInto('subscriptions')
    .values({
      company_id: companyId,
      plan_id: planId,
      status: 'trialing',
      trial: true,
      starts_at: now,
      ends_at: endsAt,
      created_at: now,
    })
    .returning('subscription_id')
    .executeTakeFirstOrThrow();
  return { _id, plan: trialPlan, status: 'trialing', startsAt: now, endsAt, trial: true };
}

/** The initial schedule, workspace, storage and notification settings of a company. */
async function insertDefaults(
  db: Db,
  { companyId, storageBytes, now }: { companyId: number; storageBytes: number; now: Date },
): Promise<void> {
  const row = { company_id: companyId, created_at: now };
  await db
    .insertInto('schedules')
    .values({
      ...row,
      name: 'Standard week',
      is_default: true,
      weekdays: [1, 2, 3, 4, 5],
      starts_at: '09:00',
      ends_at: '17:00',
    })
    .execute();
  await db
    .insertInto('workspaces')
    .values({ ...row, name: 'Main', is_default: true })
    .execute();
  await db
    .insertInto('storages')
    .values({ ...row, bytes_max: storageBytes })
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
}
