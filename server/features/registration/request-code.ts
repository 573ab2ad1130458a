import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { done, email } from '../../kernel/wire/fields.ts';
import { requestOtp } from '../auth/codes.ts';

export const requestCode = open
  .meta(
    rest('POST /get-register-otp/', {
      section: 'Company registration',
      summary: 'Send a registration code to an address',
      notAudited:
        'sends a mail, and whether the address has an account is not known yet; the sign-in that follows is audited',
      description:
        'The first step of a registration. Six digits, valid for 10 minutes and for one use; a new code replaces the old one. At most 5 codes an hour to one address, those for sign-ins included. The answer is the same for known and unknown addresses.',
      securityAct: 'code requested',
      example: { email: 'ada@example.com' },
    }),
  )
  .input(z.object({ email }))
  .output(done)
  .mutation(({ ctx, input }) => requestOtp(ctx, { ...input, purpose: 'registration' }));
