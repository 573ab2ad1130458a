import { sql, type Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import type { Company, Payment, Plan, Subscription } from './schemas.ts';

/** The columns of a Company. */
export const companyColumns = ['company_id', 'name', 'timezone', 'owner_id', 'created_at', 'updated_at'] as const;

type CompanyRow = Pick<Selectable<Schema['companies']>, (typeof companyColumns)[number]>;
/** When a closed company ends, and whether that has begun. */
type Ending = Pick<Selectable<Schema['companies']>, 'closes_at' | 'removal_began_at'>;

function selectCompany(db: Db, companyId: number) {
  return db
    .selectFrom('companies')
    .where('company_id', '=', companyId)
    .select([...companyColumns, 'closes_at', 'removal_began_at']);
}

export async function getCompany(db: Db, companyId: number): Promise<CompanyRow & Ending> {
  return selectCompany(db, companyId).executeTakeFirstOrThrow();
}

/** Returns the company, locked until the transaction ends. */
export async function lockCompany(db: Db, companyId: number): Promise<CompanyRow & Ending> {
  return selectCompany(db, companyId).forNoKeyUpdate().executeTakeFirstOrThrow();
}

export function toCompany(row: CompanyRow): z.input<typeof Company> {
  return {
    company_id: row.company_id,
    name: row.name,
    timezone: row.timezone,
    owner_id: row.owner_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The latest successful payment; failed, pending and refunded ones do not count. */
export async function findLatestPayment(db: Db, companyId: number): Promise<z.input<typeof Payment> | undefined> {
  const row = await db
    .selectFrom('payments')
    .where('company_id', '=', companyId)
    .where('status', '=', 'paid')
    .where('paid_at', 'is not', null)
    .select(['payment_id', 'amount', 'currency', 'paid_at'])
    .orderBy('paid_at', 'desc')
    .orderBy('payment_id', 'desc')
    .limit(1)
    .$narrowType<{ paid_at: Date }>()
    .executeTakeFirst();
  return (
    row && { _id: row.payment_id, amount: row.amount, currency: row.currency, status: 'paid', paidAt: row.paid_at }
  );
}

const activeStatuses = ['trialing', 'active', 'past_due'] as const;

export type ActiveSubscription = { subscription: z.input<typeof Subscription>; rank: number };

/** Subscriptions that have not ended, with the rank of their plans, the newest first. */
export async function listActiveSubscriptions(db: Db, companyId: number, now: Date): Promise<ActiveSubscription[]> {
  const rows = await db
    .selectFrom('subscriptions as s')
    .innerJoin('plans as p', 'p.plan_id', 's.plan_id')
    .where('s.company_id', '=', companyId)
    .where('s.status', 'in', activeStatuses)
    .where((where) => where.or([where('s.ends_at', 'is', null), where('s.ends_at', '>', now)]))
    .select(['s.subscription_id', 'p.code', 'p.rank', 's.status', 's.starts_at', 's.ends_at', 's.trial'])
    .orderBy('s.starts_at', 'desc')
    .orderBy('s.subscription_id', 'desc')
    .$narrowType<{ status: (typeof activeStatuses)[number] }>()
    .execute();
  return rows.map((row) => ({
    rank: row.rank,
    subscription: {
      _id: row.subscription_id,
      plan: row.code,
      status: row.status,
      startsAt: row.starts_at,
      endsAt: row.ends_at,
      trial: row.trial,
    },
  }));
}

/** All plans, the smallest first, compared with the current rank. */
export async function listPlans(db: Db, currentRank: number | undefined): Promise<z.input<typeof Plan>[]> {
  const rows = await db
    .selectFrom('plans')
    .select(['plan_id', 'code', 'name', 'price_per_month', 'currency', 'max_employees', 'storage_bytes', 'rank'])
    .orderBy('rank')
    .execute();
  return rows.map((row) => ({
    _id: row.plan_id,
    code: row.code,
    name: row.name,
    pricePerMonth: row.price_per_month,
    currency: row.currency,
    maxEmployees: row.max_employees,
    storageBytes: row.storage_bytes,
    change: changeTo(row.rank, currentRank),
  }));
}

function changeTo(rank: number, currentRank: number | undefined): z.input<typeof Plan>['change'] {
  if (currentRank === undefined || rank > currentRank) return 'upgrade';
  return rank === currentRank ? 'current' : 'downgrade';
}

/**
 * Whether the database knows a time zone by exactly this name, because statements compute days in it. Its list of names
 * is queried, because `at time zone` also accepts another letter case and POSIX rules.
 */
export async function isStorableTimezone(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_timezone_names where name = ${name}`.execute(db);
  return rows.length > 0;
}
