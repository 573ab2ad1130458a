import { z } from 'zod';
import { inCompany } from '../../../db/scope.ts';
import { rest } from '../../kernel/operation.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import type { Settings } from '../../kernel/context.ts';
import { open } from '../../kernel/procedures.ts';
import type { Db } from '../../../db/open.ts';
import { email, name, text } from '../../kernel/wire/fields.ts';
import { getOrInsertAccount, verifyAddress } from '../auth/accounts.ts';
import { storeAppleClaim } from '../auth/apple-claims.ts';
import { otp, verifyOtp } from '../auth/codes.ts';
import { INVALID_OTP } from '../auth/errors.ts';
import { SignedInResult } from '../auth/schemas.ts';
import { startSession } from '../auth/start-session.ts';
import { companyCreated } from '../company/events.ts';
import { getCompany, toCompany } from '../company/queries.ts';
import { Subscription } from '../company/schemas.ts';
import { employeeCreated } from '../employees/events.ts';
import { getEmployee, insertEmployee } from '../employees/queries.ts';
import { recordEmployee } from '../employees/record-change.ts';
import { apiKeyRevoked } from '../memberships/events.ts';
import { setUpCompany } from './set-up-company.ts';

export const registerCompany = open
  .meta(
    rest('POST /api/create-company-and-employee/', {
      section: 'Company registration',
      summary: 'Register a company and its first admin',
      description:
        'Makes the company, its admin employee, a 30-day trial subscription, a default schedule, workspace, storage and notification setup, and signs the admin in. All of it happens or nothing: a failure leaves the code unused. `appleUserId` is only a claim: an Apple login within 24 hours that proves it, with no e-mail address or a relay address, is linked to this account, once, where no other account has that identity.',
      errors: [INVALID_OTP],
      changes: [companyCreated, employeeCreated, apiKeyRevoked],
      example: {
        company_name: 'Analytical Engines',
        email: 'ada@example.com',
        otp: '042917',
        first_name: 'Ada',
        last_name: 'Lovelace',
      },
    }),
  )
  .input(
    z.object({
      company_name: name({ max: 200 }),
      email,
      otp,
      first_name: name({ max: 100 }),
      last_name: name({ max: 100 }),
      referral_code: text({ min: 0, max: 100 }).nullish(),
      appleUserId: text({ min: 0, max: 255 }).nullish(),
    }),
  )
  .output(SignedInResult.extend({ subscription: Subscription }).meta({ id: 'RegistrationResult' }))
  .mutation(async ({ ctx, input }) => {
    const code = await verifyOtp(ctx, { email: input.email, purpose: 'registration', code: input.otp });
    const now = ctx.services.clock.now();
    const { db } = ctx;

    await code.useUp(db);
    const account = await getOrInsertAccount(db, input.email, now);
    await verifyAddress(db, account, now);
    if (input.appleUserId)
      await storeAppleClaim(db, { accountId: account.account_id, subject: input.appleUserId, now });
    const { companyId, subscription } = await setUpCompany(db, {
      name: input.company_name,
      referralCode: input.referral_code ?? null,
      now,
    });
    const company = inCompany(db, companyId);
    const employeeId = await insertEmployee(company, {
      companyId,
      accountId: account.account_id,
      email: input.email,
      firstName: input.first_name,
      lastName: input.last_name,
      isAdmin: true,
      now,
    });
    await company.updateTable('companies').set({ owner_id: employeeId }).where('company_id', '=', companyId).execute();
    await recordRegistered(company, { companyId, employeeId, now }, ctx.services.settings);

    const place = { company_id: companyId, company_name: input.company_name, employee_id: employeeId };
    const session = await startSession(ctx, {
      accountId: account.account_id,
      addressProvedAt: now,
      method: 'registration',
      place,
    });
    return { ...session, subscription };
  });

async function recordRegistered(
  db: Db,
  { companyId, employeeId, now: at }: { companyId: number; employeeId: number; now: Date },
  settings: Settings,
): Promise<void> {
  const company = toCompany(await getCompany(db, companyId));
  const streams = [changeStream.company(companyId)];
  const payload = { actorId: employeeId, companyId, company };
  recordChange(db, companyCreated, { companyId, streams, payload, at });
  recordEmployee(db, employeeCreated, await getEmployee(db, companyId, employeeId), {
    actorId: employeeId,
    at,
    settings,
  });
}
