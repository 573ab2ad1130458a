import { z } from 'zod';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ownId } from '../../kernel/wire/fields.ts';
import { listPreferences, Preferences } from './preferences.ts';
import { requireSelf } from './queries.ts';

export const getPreferences = member('notifications')
  .meta(
    rest('GET /api/notification-preferences/{employee_id}/', {
      section: 'Additions',
      summary: 'How one wants to be told, for each category',
      errors: [FORBIDDEN],
    }),
  )
  .input(z.object({ employee_id: ownId() }))
  .output(Preferences)
  .query(async ({ ctx, input }) => listPreferences(ctx.db, await requireSelf(ctx.db, ctx.caller, input.employee_id)));
