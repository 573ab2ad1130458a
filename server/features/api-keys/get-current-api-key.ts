import { z } from 'zod';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { getCompany } from '../company/queries.ts';
import { Company } from '../company/schemas.ts';
import { findEmployee } from '../employees/queries.ts';
import { Employee } from '../employees/schemas.ts';
import { ApiKey, apiKeyFields, toApiKey } from '../memberships/api-key.ts';

export const getCurrentApiKey = member('any key')
  .meta(
    rest('GET /api/api-keys/current/', {
      section: 'Additions',
      summary: 'The API key that calls, its employee and their company',
      description:
        'For API keys, whatever their scopes: what a script needs to know of itself. A session knows it from its login, and is answered 403 `FORBIDDEN`.',
      errors: [FORBIDDEN],
      tool: { name: 'who_am_i', leavesOut: ['start', 'createdAt', 'lastUsedAt'] },
    }),
  )
  .output(
    z
      .object({
        key: ApiKey,
        employee: Employee.pick({ _id: true, name: true, email: true, isAdmin: true, isTeamLeader: true }).meta({
          id: 'KeyHolder',
          description: 'The employee as whom the key acts',
        }),
        company: Company.pick({ company_id: true, name: true, timezone: true })
          .extend({
            closesAt: moment.nullable().meta({
              description: 'When the company is removed, because its owner has closed it; null if it is open',
            }),
          })
          .meta({ id: 'KeyCompany', description: 'The company of a key' }),
      })
      .meta({ id: 'CurrentApiKey' }),
  )
  .query(async ({ ctx }) => {
    const { companyId, employeeId, credential } = ctx.caller;
    if (credential.kind !== 'apiKey')
      throw FORBIDDEN({
        detail:
          'This tells an API key whose it is. With a session take `employee` and `company` from the answer of the login, or read GET /employee/me/{employee_id}/ and GET /company/{company_id}/details/.',
      });
    const key = await ctx.db
      .selectFrom('api_keys')
      .where('company_id', '=', companyId)
      .where('api_key_id', '=', credential.apiKeyId)
      .select(apiKeyFields)
      .executeTakeFirstOrThrow();
    const employee = (await findEmployee(ctx.db, companyId, employeeId))!;
    const { name, timezone, closes_at: closesAt } = await getCompany(ctx.db, companyId);
    return {
      key: toApiKey(key),
      employee: {
        _id: employeeId,
        name: employee.name,
        email: employee.email,
        isAdmin: employee.is_admin,
        isTeamLeader: employee.is_team_leader,
      },
      company: { company_id: companyId, name, timezone, closesAt },
    };
  });
