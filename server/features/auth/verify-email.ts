import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { done, email } from '../../kernel/wire/fields.ts';
import { requestOtp } from './codes.ts';

export const verifyEmail = open
  .meta(
    rest('POST /verify-email/', {
      section: 'Login',
      summary: 'Send a sign-in code to an address',
      notAudited:
        'sends a mail, and whether the address has an account is not known yet; the sign-in that follows is audited',
      description:
        'Six digits for POST /otp-login/, valid for 10 minutes and for one use; a new code replaces the old one. Signing in with it verifies the address, so this is also the optional step after a registration. The answer and its time are the same whether or not the address is known; a mail goes out only where it is. At most 5 codes an hour to one address, those of registrations included.',
      securityAct: 'code requested',
      example: { email: 'ada@example.com' },
    }),
  )
  .input(z.object({ email }))
  .output(done)
  .mutation(({ ctx, input }) => requestOtp(ctx, { ...input, purpose: 'login' }));
