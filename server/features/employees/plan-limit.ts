import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { defineError } from '../../errors/api-error.ts';

export const PLAN_LIMIT_REACHED = defineError(
  'PLAN_LIMIT_REACHED',
  'CONFLICT',
  "The company's plan has no place for another active employee: deactivate somebody, or take a larger plan.",
);

/**
 * Throws if another active employee would exceed the `maxEmployees` of the company's plan. Call it before the employee
 * becomes active and before any employee's row is locked: it locks the company's row, so concurrent requests cannot
 * exceed the limit. The plan is that of the newest subscription, even an ended one.
 */
export async function requirePlaceInPlan(db: Db, companyId: number): Promise<void> {
  // A separate statement: the count must see what others committed while this one waited for the lock.
  await sql`select 1 from companies where company_id = ${companyId} for no key update`.execute(db);
  const plan = await placesOf(db, companyId);
  if (!plan || plan.active < plan.max_employees) return;
  throw PLAN_LIMIT_REACHED({
    detail: `The plan ${plan.name} has ${plan.max_employees} places, and all are taken: deactivate somebody, or take a larger plan.`,
  });
}

type Places = { name: string; max_employees: number; active: number };

/** The places of the company's plan and how many are taken; undefined for a plan without a limit. */
export async function placesOf(db: Db, companyId: number): Promise<Places | undefined> {
  const { rows } = await sql<Places>`
    select p.name, p.max_employees, (
      select count(*) from employees where company_id = ${companyId} and is_active and not is_deleted
    )::integer as active
    from (
      select plan_id from subscriptions where company_id = ${companyId}
      order by starts_at desc, subscription_id desc limit 1
    ) as s
    join plans as p on p.plan_id = s.plan_id
    where p.max_employees is not null`.execute(db);
  return rows[0];
}
