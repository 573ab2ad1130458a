import { z } from 'zod';
import { FORBIDDEN } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { id } from '../../kernel/wire.ts';
import { listPreferences, Preferences } from './preferences.ts';
import { requireSelf } from './queries.ts';

export const getPreferences = member
  .meta(
    rest('GET /api/notification-preferences/{employee_id}/', {
      section: 'Additions',
      summary: 'How one wants to be told, for each category',
      faults: [FORBIDDEN],
    }),
  )
  .input(z.object({ employee_id: id }))
  .output(Preferences)
  .query(async ({ ctx, input }) => listPreferences(ctx.db, await requireSelf(ctx.db, ctx.caller, input.employee_id)));
