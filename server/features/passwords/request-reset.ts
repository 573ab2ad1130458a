import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { enqueueJob } from '../../kernel/job.ts';
import { done, email } from '../../kernel/wire/fields.ts';
import { sendResetLink } from './reset-link.ts';

export const requestReset = open
  .meta(
    rest('POST /reset/link/', {
      section: 'Password management',
      summary: 'Send a password reset link to an address',
      notAudited:
        'sends a mail, and whether the address has an account is not known yet; the sign-in that follows is audited',
      description:
        'The link leads to `APP_URL/reset-password?token=…`, works once and for 30 minutes. The answer and its time are the same whether or not the address is known; a mail goes out only where it is. At most 5 an hour to one address.',
      securityAct: 'reset link requested',
      example: { email: 'ada@example.com' },
    }),
  )
  .input(z.object({ email }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { limits, clock } = ctx.services;
    await limits.codeSends.consume(`reset ${input.email}`);
    await enqueueJob(ctx.db, sendResetLink, { dedupeKey: randomUUID(), payload: input, now: clock.now() });
    return { success: true } as const;
  });
