import { z } from 'zod';
import { NOT_FOUND, SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { ApiKey, apiKeyFields, isLiveAt, toApiKey } from '../memberships/api-key.ts';
import { findEmployee } from './queries.ts';

const EmployeeSession = z
  .object({
    _id: idOf('session'),
    method: z.string().meta({
      description:
        'How the person proved who they are: `password`, `code`, `google`, `apple`, `registration`, `invitation`, `token` (a company was chosen, or changed to) or `api key`',
      examples: ['password'],
    }),
    device: z.string().nullable().meta({ description: 'The User-Agent at sign-in' }),
    network: z.string().nullable().meta({ description: 'Address at sign-in, IPv6 by its /64' }),
    createdAt: moment,
    lastUsedAt: moment,
    expiresAt: moment,
  })
  .meta({ id: 'EmployeeSession' });

export const getAccess = admin('no key')
  .meta(
    rest('GET /api/employees/{_id}/access/', {
      section: 'Additions',
      summary: 'The sessions and API keys of an employee',
      description:
        'The live ones in this company, the newest first; what the employee’s account has elsewhere is not the company’s. Keys are shown without themselves.',
      errors: [SESSION_REQUIRED, SESSION_BOUND],
    }),
  )
  .input(z.object({ _id: idOf('colleague') }))
  .output(
    z.object({
      sessions: z.array(EmployeeSession).meta({ description: 'The sessions, the newest first' }),
      keys: z.array(ApiKey),
    }),
  )
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    accountOf(ctx.caller);
    const now = ctx.services.clock.now();
    if (!(await findEmployee(ctx.db, companyId, input._id))) throw NOT_FOUND();
    const sessions = await ctx.db
      .selectFrom('sessions')
      .where('company_id', '=', companyId)
      .where('employee_id', '=', input._id)
      .where('ended_at', 'is', null)
      .where('expires_at', '>', now)
      .select(['session_id', 'method', 'user_agent', 'network', 'created_at', 'last_used_at', 'expires_at'])
      .orderBy('session_id', 'desc')
      .limit(500)
      .execute();
    const keys = await ctx.db
      .selectFrom('api_keys')
      .where('company_id', '=', companyId)
      .where('employee_id', '=', input._id)
      .where('revoked_at', 'is', null)
      .where(isLiveAt(now))
      .select(apiKeyFields)
      .orderBy('api_key_id', 'desc')
      .limit(500)
      .execute();
    return {
      sessions: sessions.map((row) => ({
        _id: row.session_id,
        method: row.method,
        device: row.user_agent,
        network: row.network,
        createdAt: row.created_at,
        lastUsedAt: row.last_used_at,
        expiresAt: row.expires_at,
      })),
      keys: keys.map(toApiKey),
    };
  });
