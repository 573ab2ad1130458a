import { rest } from '../../kernel/operation.ts';
import { sessionOf, signedIn } from '../../kernel/procedures.ts';
import { done } from '../../kernel/wire.ts';

export const logout = signedIn
  .meta(
    rest('POST /logout/', {
      section: 'Login',
      summary: 'End this session',
      description: 'Both tokens of the pair in the headers are dead at once, on every node.',
    }),
  )
  .output(done)
  .mutation(async ({ ctx }) => {
    await ctx.db
      .updateTable('sessions')
      .set({ ended_at: ctx.services.clock.now(), ended_because: 'logout' })
      .where('session_id', '=', sessionOf(ctx.caller))
      .where('ended_at', 'is', null)
      .execute();
    return { success: true } as const;
  });
