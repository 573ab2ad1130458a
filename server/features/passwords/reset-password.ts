import { z } from 'zod';
import { noteActor } from '../../kernel/audit-log.ts';
import { hashSecret } from '../../kernel/authentication.ts';
import { OVERLOADED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { done } from '../../kernel/wire/fields.ts';
import { endApiKeys, endSessions, getAccountById, verifyAddress } from '../auth/accounts.ts';
import { apiKeyRevoked } from '../memberships/events.ts';
import { notifyAccountOwner } from '../notices/account-notice.ts';
import { endOpenProofs } from './end-access.ts';
import { INVALID_RESET_TOKEN, PASSWORD_MISMATCH, PASSWORD_TOO_WEAK } from './errors.ts';
import { checkNewPassword, checkNotAddress, newPasswordFields } from './new-password.ts';

export const resetPassword = open
  .meta(
    rest('POST /reset/verify/', {
      section: 'Password management',
      summary: 'Set a new password with the token of a reset link',
      description:
        'Uses the token up, verifies the address, ends every session of the account, its open reset links and codes and the API keys that it made, and tells the account by mail.',
      errors: [INVALID_RESET_TOKEN, PASSWORD_MISMATCH, PASSWORD_TOO_WEAK, OVERLOADED],
      changes: [apiKeyRevoked],
      securityAct: 'password reset',
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
    await checkNewPassword(input);
    const { database, passwords, clock } = ctx.services;
    const now = clock.now();
    const alive = await database.db
      .selectFrom('one_time_tokens as t')
      .innerJoin('accounts as a', 'a.account_id', 't.account_id')
      .where('t.token_hash', '=', hashSecret(input.token))
      .where('t.purpose', '=', 'password_reset')
      .where('t.used_at', 'is', null)
      .where('t.expires_at', '>', now)
      .select('a.email')
      .executeTakeFirst();
    // Hashing is for live tokens only.
    if (!alive) throw INVALID_RESET_TOKEN();
    checkNotAddress(input, alive.email);
    const turn = { network: ctx.request.network, who: alive.email };
    const passwordHash = await passwords.hash(input.new_password, turn);

    const used = await ctx.db
      .updateTable('one_time_tokens')
      .set({ used_at: now })
      .where('token_hash', '=', hashSecret(input.token))
      .where('used_at', 'is', null)
      .returning('account_id')
      .executeTakeFirstOrThrow(() => INVALID_RESET_TOKEN());
    noteActor(ctx.db, { accountId: used.account_id });
    const account = await getAccountById(ctx.db, used.account_id);
    await endOpenProofs(ctx.db, account, now);
    await verifyAddress(ctx.db, account, now);
    await ctx.db
      .updateTable('accounts')
      .set({ password_hash: passwordHash, updated_at: now })
      .where('account_id', '=', account.account_id)
      .execute();
    const because = 'password reset';
    await endSessions(ctx.db, { accountId: account.account_id }, because, now);
    await endApiKeys(ctx.db, account.account_id, because, now);
    await notifyAccountOwner(ctx.db, {
      email: account.email,
      notice: { kind: 'password reset' },
      request: ctx.request,
      now,
    });
    return { success: true } as const;
  });
