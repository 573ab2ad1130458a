import { z } from 'zod';
import { acrossCompanies } from '../../../db/scope.ts';
import { rest } from '../../kernel/operation.ts';
import { signedIn } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';

const Session = z
  .object({
    _id: idOf('session'),
    method: z.string().meta({
      description:
        'How the person proved who they are: `password`, `code`, `google`, `apple`, `registration`, `invitation`, `token` (a company was chosen, or changed to) or `api key`',
      examples: ['password'],
    }),
    device: z.string().nullable().meta({ description: 'The User-Agent at sign-in' }),
    network: z.string().nullable().meta({ description: 'Address at sign-in, IPv6 by its /64' }),
    company_id: idOf('company').nullable(),
    isCurrent: z.boolean(),
    createdAt: moment,
    lastUsedAt: moment,
    expiresAt: moment,
  })
  .meta({ id: 'Session' });

export const listSessions = signedIn
  .meta(rest('GET /api/sessions/', { section: 'Additions', summary: "One's own live sessions, the latest used first" }))
  .output(z.object({ sessions: z.array(Session) }))
  .query(async ({ ctx }) => {
    const { accountId, sessionId } = ctx.caller;
    const rows = await acrossCompanies(ctx.db)
      .selectFrom('sessions')
      .where('account_id', '=', accountId)
      .where('ended_at', 'is', null)
      .where('expires_at', '>', ctx.services.clock.now())
      .select([
        'session_id',
        'method',
        'user_agent',
        'network',
        'company_id',
        'created_at',
        'last_used_at',
        'expires_at',
      ])
      .orderBy('last_used_at', 'desc')
      .orderBy('session_id', 'desc')
      .limit(500)
      .execute();
    const sessions = rows.map((row) => ({
      _id: row.session_id,
      method: row.method,
      device: row.user_agent,
      network: row.network,
      company_id: row.company_id,
      isCurrent: row.session_id === sessionId,
      createdAt: row.created_at,
      lastUsedAt: row.last_used_at,
      expiresAt: row.expires_at,
    }));
    return { sessions };
  });
