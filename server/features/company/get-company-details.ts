import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { findLatestPayment, getCompany, listActiveSubscriptions, listPlans, toCompany } from './queries.ts';
import { Company, Payment, Plan, Subscription } from './schemas.ts';

export const getCompanyDetails = member('company')
  .meta(
    rest('GET /company/{company_id}/details/', {
      section: 'Company',
      summary: 'Company profile, latest payment, active subscriptions and all plans',
      description:
        'Any employee of the company may see it. `latestPayment` is the latest one with status `paid`. `subscriptions` are those in trial, active or past due whose end has not passed. The current plan is that of the highest active subscription; `change` of each plan is relative to it.',
      example: { company_id: 42 },
    }),
  )
  .input(z.object({ company_id: idOf('company') }))
  .output(
    z.object({
      company: Company,
      latestPayment: Payment.nullable(),
      subscriptions: z.array(Subscription),
      plans: z.array(Plan),
      closesAt: moment.nullable().meta({
        description: 'When the company is removed, because its owner has closed it; null if it is open',
      }),
    }),
  )
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const [company, latestPayment, active] = await Promise.all([
      getCompany(ctx.db, companyId),
      findLatestPayment(ctx.db, companyId),
      listActiveSubscriptions(ctx.db, companyId, ctx.services.clock.now()),
    ]);
    const currentRank = active.length === 0 ? undefined : Math.max(...active.map(({ rank }) => rank));
    return {
      company: toCompany(company),
      latestPayment: latestPayment ?? null,
      subscriptions: active.map(({ subscription }) => subscription),
      plans: await listPlans(ctx.db, currentRank),
      closesAt: company.closes_at,
    };
  });
