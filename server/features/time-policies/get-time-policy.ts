import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { readPolicy, toPolicy } from './queries.ts';
import { TimePolicy } from './schemas.ts';

export const getTimePolicy = member('time')
  .meta(
    rest('GET /api/time-policy/{company_id}/', {
      section: 'Additions',
      summary: 'How time is handed in and locked',
      description:
        'For every employee. A company that has set nothing hands in weeks from Monday, needs no approval and locks no day by its age. See [the guide](/docs/guides/time-periods).',
    }),
  )
  .input(z.object({ company_id: idOf('company') }))
  .output(TimePolicy)
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    return toPolicy(ctx.db, companyId, await readPolicy(ctx.db, companyId));
  });
