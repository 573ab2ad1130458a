import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';
import { Employee } from '../employees/schemas.ts';

export const TokenPair = z.object({
  access_token: z.string().meta({ description: 'JWT; send it as `Authorization: Bearer …`' }),
  refresh_token: z.string().meta({ description: 'JWT; send it as `X-Refresh-Token` with the access token' }),
  token_type: z.literal('Bearer'),
  expires_in: z.int().meta({ description: 'Seconds until the access token expires' }),
});

export const SignedInResult = TokenPair.extend({
  employee: Employee.nullable(),
  company: z.object({ company_id: idOf('company'), company_name: z.string() }).nullable(),
}).meta({ id: 'SignedInResult' });

/** The account is an employee of several companies and the request did not say which. */
export const CompanyChoice = z
  .object({
    companies: z.array(z.object({ company_id: idOf('company'), company_name: z.string(), isAdmin: z.boolean() })),
    login_ticket: z.string().meta({ description: 'Proof for POST /token-login/, single use' }),
    expires_in: z.int().meta({ description: 'Seconds until the ticket expires' }),
  })
  .meta({ id: 'CompanyChoice' });

export const LoginResult = z.union([SignedInResult, CompanyChoice]);

/** Accepted by every login: the company to sign in to, where the account has several. */
export const companyChoiceField = {
  company_id: idOf('company')
    .optional()
    .meta({ description: 'The company to sign in to, where the account has several' }),
};
