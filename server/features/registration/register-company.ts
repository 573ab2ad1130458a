import { z } from 'zod';
import { inCompany } from '../../../db/scope.ts';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { email, name, text } from '../../kernel/wire/fields.ts';
import { getOrInsertAccount, verifyAddress } from '../auth/accounts.ts';
import { storeAppleClaim } from '../auth/apple-claims.ts';
import { otp, verifyOtp } from '../auth/codes.ts';
import { INVALID_OTP } from '../auth/errors.ts';
import { SignedInResult } from '../auth/schemas.ts';
import { startSession } from '../auth/start-session.ts';
import { Subscription } from '../company/schemas.ts';
import { insertEmployee } from '../employees/queries.ts';
import { setUpCompany } from './set-up-company.ts';

export const registerCompany = open
  .meta(
    rest('POST /api/create-company-and-employee/', {
      section: 'Company registration',
      summary: 'Register a company and its first admin',
      description:
        'Makes the company, its admin employee, a 30-day trial subscription, a default schedule, workspace, storage and notification setup, and signs the admin in. All of it happens or nothing: a failure leaves the code unused. `appleUserId` is only a claim: an Apple login within 24 hours that proves it, with no e-mail address or a relay address, is linked to this account, once, where no other account has that identity.',
      errors: [INVALID_OTP],
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

    const place = { company_id: companyId, company_name: input.company_name, employee_id: employeeId };
    const session = await startSession(ctx, {
      accountId: account.account_id,
      addressProvedAt: now,
      method: 'registration',
      place,
    });
    return { ...session, subscription };
  });
