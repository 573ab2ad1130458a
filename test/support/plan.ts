import type { Actor } from './actor.ts';
import type { Service } from './service.ts';

/** Puts a company on another plan than its trial's: `starter` has 10 places, `enterprise` has no limit. */
export async function subscribe({ database: { db } }: Service, { companyId }: Actor, code: string): Promise<void> {
  const { plan_id } = await db.selectFrom('plans').where('code', '=', code).select('plan_id').executeTakeFirstOrThrow();
  await db.updateTable('subscriptions').set({ plan_id }).where('company_id', '=', companyId).execute();
}
