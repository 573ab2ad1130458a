import { acrossCompanies } from '../../../db/scope.ts';
import { rest } from '../../kernel/operation.ts';
import { anySession } from '../../kernel/procedures.ts';
import { done } from '../../kernel/wire/fields.ts';

export const logout = anySession
  .meta(
    rest('POST /logout/', {
      section: 'Additions',
      summary: 'End this session',
      description: 'Both tokens of the pair in the headers are dead at once, on every node.',
      securityAct: 'signed out',
    }),
  )
  .output(done)
  .mutation(async ({ ctx }) => {
    await acrossCompanies(ctx.db)
      .updateTable('sessions')
      .set({ ended_at: ctx.services.clock.now(), ended_because: 'logout' })
      .where('session_id', '=', ctx.caller.sessionId)
      .where('ended_at', 'is', null)
      .execute();
    return { success: true } as const;
  });
