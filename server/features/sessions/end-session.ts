import { z } from 'zod';
import { acrossCompanies } from '../../../db/scope.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { signedIn } from '../../kernel/procedures.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';

export const endSession = signedIn
  .meta(
    rest('DELETE /api/sessions/{session_id}/', {
      section: 'Additions',
      summary: "End one of one's own sessions",
      securityAct: 'session ended',
    }),
  )
  .input(z.object({ session_id: idOf('session') }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    await acrossCompanies(ctx.db)
      .updateTable('sessions')
      .set({ ended_at: ctx.services.clock.now(), ended_because: 'ended by its owner' })
      .where('session_id', '=', input.session_id)
      .where('account_id', '=', ctx.caller.accountId)
      .where('ended_at', 'is', null)
      .returning('session_id')
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    return { success: true } as const;
  });
