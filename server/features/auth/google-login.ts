import { z } from 'zod';
import { INVALID_IDENTITY_TOKEN } from '../../platform/identity-provider.ts';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { identityFields, loginWithIdentity, nonceField } from './identity-login.ts';
import { companyChoiceField, LoginResult } from './schemas.ts';
import { signInChanges } from './sign-in.ts';

export const googleLogin = open
  .meta(
    rest('POST /api/google-login/', {
      section: 'Login',
      summary: 'Sign in with a Google identity token',
      description:
        'Signature, issuer, audience (and `azp`, where the token has one), expiry and `email_verified` are checked, and `nonce` where it is sent; a token signs in once, but for one whose answer was a choice of companies: that may be sent again with `company_id`, instead of the ticket; the address is taken from the token, and `email` must equal it when sent. Makes the account where there is none; such a session can register a company.',
      errors: [INVALID_IDENTITY_TOKEN],
      changes: signInChanges,
      example: { token: 'eyJhbGciOiJSUzI1NiIs…', email: 'ada@example.com', name: 'Ada Lovelace' },
    }),
  )
  .input(
    z.object({
      ...identityFields('Google'),
      picture: z.string().max(2048).nullish().meta({ description: 'Accepted and not used' }),
      ...nonceField,
      ...companyChoiceField,
    }),
  )
  .output(LoginResult)
  .mutation(({ ctx, input }) => loginWithIdentity(ctx, 'google', input));
