import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { email } from '../../kernel/wire/fields.ts';
import { getOrInsertAccount, verifyAddress } from './accounts.ts';
import { otp, verifyOtp } from './codes.ts';
import { INVALID_OTP } from './errors.ts';
import { companyChoiceField, LoginResult } from './schemas.ts';
import { signIn, signInChanges } from './sign-in.ts';

export const otpLogin = open
  .meta(
    rest('POST /otp-login/', {
      section: 'Login',
      summary: 'Sign in with an e-mailed code',
      description:
        'Where the account is an employee of several companies and `company_id` is not sent, the answer lists them with a `login_ticket` for POST /token-login/. The code is used up either way. Five wrong attempts end a code. After 20 at one address in a day a code may be tried only once, and only from the network that requested it; attempts from other networks get 429.',
      errors: [INVALID_OTP],
      changes: signInChanges,
      example: { email: 'ada@example.com', otp: '042917' },
    }),
  )
  .input(z.object({ email, otp, ...companyChoiceField }))
  .output(LoginResult)
  .mutation(async ({ ctx, input }) => {
    const code = await verifyOtp(ctx, { email: input.email, purpose: 'login', code: input.otp });
    const now = ctx.services.clock.now();
    await code.useUp(ctx.db);
    const account = await getOrInsertAccount(ctx.db, input.email, now);
    await verifyAddress(ctx.db, account, now);
    const proven = { accountId: account.account_id, provedAddress: account.email };
    return signIn(ctx, proven, { method: 'code', companyId: input.company_id });
  });
