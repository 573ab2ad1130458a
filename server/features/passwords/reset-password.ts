import { z } from 'zod';
import { hashSecret } from '../../kernel/authentication.ts';
import { OVERLOADED } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { done } from '../../kernel/wire.ts';
import { endSessions, getAccountById, verifyAddress } from '../auth/accounts.ts';
import { INVALID_RESET_TOKEN, PASSWORD_MISMATCH, PASSWORD_TOO_WEAK } from './faults.ts';
import { checkNewPassword, newPasswordFields } from './new-password.ts';

export const resetPassword = open
  .meta(
    rest('POST /reset/verify/', {
      section: 'Password management',
      summary: 'Set a new password with the token of a reset link',
      description: 'Uses the token up, verifies the address, and ends every session of the account.',
      faults: [INVALID_RESET_TOKEN, PASSWORD_MISMATCH, PASSWORD_TOO_WEAK, OVERLOADED],
      example: {
        token: 'q3Zt0k8Yb1…',
        new_password: 'correct horse battery',
        confirm_password: 'correct horse battery',
      },
    }),
  )
  .input(z.object({ token: z.string().min(1).max(500), ...newPasswordFields }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    checkNewPassword(input);
    const { database, passwords, clock } = ctx.services;
    const now = clock.now();
    const isAlive = await database.db
      .selectFrom('one_time_tokens')
      .where('token_hash', '=', hashSecret(input.token))
      .where('purpose', '=', 'password_reset')
      .where('used_at', 'is', null)
      .where('expires_at', '>', now)
      .select('account_id')
      .executeTakeFirst();
    // Only a live token is worth the hashing.
    if (!isAlive) throw INVALID_RESET_TOKEN();
    const passwordHash = await passwords.hash(input.new_password);

    const used = await ctx.db
      .updateTable('one_time_tokens')
      .set({ used_at: now })
      .where('token_hash', '=', hashSecret(input.token))
      .where('used_at', 'is', null)
      .returning('account_id')
      .executeTakeFirst();
    if (!used) throw INVALID_RESET_TOKEN();
    const account = await getAccountById(ctx.db, used.account_id);
    await verifyAddress(ctx.db, account, now);
    await ctx.db
      .updateTable('accounts')
      .set({ password_hash: passwordHash, updated_at: now })
      .where('account_id', '=', account.account_id)
      .execute();
    // Other links that are still on their way must not undo this.
    await ctx.db
      .updateTable('one_time_tokens')
      .set({ used_at: now })
      .where('account_id', '=', account.account_id)
      .where('used_at', 'is', null)
      .execute();
    await endSessions(ctx.db, { accountId: account.account_id }, 'password reset', now);
    return { success: true } as const;
  });
