import { z } from 'zod';
import { INVALID_IDENTITY_TOKEN } from '../../platform/identity-provider.ts';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { identityFields, loginWithIdentity, nonceField } from './identity-login.ts';
import { companyChoiceField, LoginResult } from './schemas.ts';
import { signInChanges } from './sign-in.ts';

export const appleLogin = open
  .meta(
    rest('POST /api/apple-login/', {
      section: 'Login',
      summary: 'Sign in with an Apple identity token (iOS and web)',
      description:
        'Checked as the Google login is. Apple leaves the address out after the first login: then the identity that is stored decides. Where none is stored, the account is joined whose registration named this `appleUserId` within the last 24 hours, if the token carries no address or a relay address.',
      errors: [INVALID_IDENTITY_TOKEN],
      changes: signInChanges,
      example: { token: 'eyJhbGciOiJFUzI1NiIs…', email: 'ada@example.com', name: 'Ada Lovelace' },
    }),
  )
  .input(
    z.object({
      ...identityFields('Apple'),
      ...nonceField,
      ...companyChoiceField,
    }),
  )
  .output(LoginResult)
  .mutation(({ ctx, input }) => loginWithIdentity(ctx, 'apple', input));
