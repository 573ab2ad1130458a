import { z } from 'zod';
import { OVERLOADED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { Concerning } from '../../kernel/security-log.ts';
import { email } from '../../kernel/wire/fields.ts';
import { findAccount } from './accounts.ts';
import { INVALID_CREDENTIALS } from './errors.ts';
import { companyChoiceField, LoginResult } from './schemas.ts';
import { signIn } from './sign-in.ts';

export const login = open
  .meta(
    rest('POST /login/', {
      section: 'Login',
      summary: 'Sign in with e-mail and password',
      description:
        'A wrong password and an unknown address get the same answer in the same time. Ten failures in 15 minutes from one network close the address to that network until they have passed.',
      errors: [INVALID_CREDENTIALS, OVERLOADED],
      example: { email: 'ada@example.com', password: 'correct horse battery staple' },
    }),
  )
  .input(z.object({ email, password: z.string().min(1).max(1024), ...companyChoiceField }))
  .output(LoginResult)
  .mutation(async ({ ctx, input }) => {
    const { database, passwords, limits, clock } = ctx.services;
    const turn = { network: ctx.request.network, who: input.email };
    const attempt = `${input.email} ${ctx.request.network}`;
    const account = await findAccount(database.db, input.email);
    // Counted when its turn has come, so that of many concurrent honest sign-ins only a few count as failures at a
    // time.
    const isMatch = await passwords.matches(account?.password_hash ?? null, input.password, turn, () =>
      limits.signIns.consume(attempt),
    );
    if (!account || !isMatch) throw INVALID_CREDENTIALS({ cause: new Concerning({ accountId: account?.account_id }) });
    await limits.signIns.refund(attempt);

    let passwordHash = account.password_hash!;
    if (passwords.isOutdated(passwordHash)) {
      const rehashed = await passwords.hash(input.password, turn);
      await ctx.db
        .updateTable('accounts')
        .set({ password_hash: rehashed, updated_at: clock.now() })
        .where('account_id', '=', account.account_id)
        .where('password_hash', '=', passwordHash)
        .execute();
      passwordHash = rehashed;
    }
    const proven = { accountId: account.account_id, provedAddress: null, passwordHash };
    return signIn(ctx, proven, { method: 'password', companyId: input.company_id });
  });
