import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { deliver } from '../../kernel/reaction.ts';
import { done, email } from '../../kernel/wire.ts';
import { sendCode } from './codes.ts';

export const verifyEmail = open
  .meta(
    rest('POST /verify-email/', {
      section: 'Login',
      summary: 'Send a sign-in code to an address',
      description:
        'Six digits for POST /otp-login/, valid for 10 minutes and for one use; a new code replaces the old one. Signing in with it verifies the address, so this is also the optional step after a registration. The answer and its time are the same whether or not the address is known; a mail goes out only where it is. At most 5 codes an hour to one address.',
      example: { email: 'ada@example.com' },
    }),
  )
  .input(z.object({ email }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { limits, clock, wakeDeliveries } = ctx.services;
    await limits.codeSends.take(input.email);
    await deliver(ctx.db, sendCode, {
      dedupeKey: randomUUID(),
      payload: { email: input.email, purpose: 'login' },
      now: clock.now(),
    });
    ctx.afterCommit(wakeDeliveries);
    return { success: true } as const;
  });
