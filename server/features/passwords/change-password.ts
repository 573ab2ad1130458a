import { z } from 'zod';
import { FORBIDDEN, NOT_FOUND, OVERLOADED, SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, member } from '../../kernel/procedures.ts';
import { ownId, done } from '../../kernel/wire/fields.ts';
import { endApiKeys, endSessions, getAccountById } from '../auth/accounts.ts';
import { findEmployee } from '../employees/queries.ts';
import { apiKeyRevoked } from '../memberships/events.ts';
import { notifyAccountOwner } from '../notices/account-notice.ts';
import { describeApiKeys, endOpenProofs } from './end-access.ts';
import { CURRENT_PASSWORD_WRONG, PASSWORD_MISMATCH, PASSWORD_TOO_WEAK } from './errors.ts';
import { checkNewPassword, checkNotAddress, newPasswordFields } from './new-password.ts';

export const changePassword = member('no key')
  .meta(
    rest('PUT /employee/password/{employee_id}/', {
      section: 'Password management',
      summary: "Change one's own password",
      description:
        'The current password is verified; ten wrong ones in 15 minutes close the operation for that time. Ends every other session of the account and its open reset links and codes, and tells the account by mail, which lists the API keys that stay valid; with `revoke_api_keys: true` those end too. An account without a password sets its first one by a reset link.',
      errors: [
        FORBIDDEN,
        SESSION_REQUIRED,
        SESSION_BOUND,
        CURRENT_PASSWORD_WRONG,
        PASSWORD_MISMATCH,
        PASSWORD_TOO_WEAK,
        OVERLOADED,
      ],
      changes: [apiKeyRevoked],
      securityAct: 'password changed',
      example: {
        current_password: 'old and long enough',
        new_password: 'correct horse battery',
        confirm_password: 'correct horse battery',
      },
    }),
  )
  .input(
    z.object({
      employee_id: ownId(),
      current_password: z.string().max(1024),
      ...newPasswordFields,
      revoke_api_keys: z
        .boolean()
        .optional()
        .meta({ description: 'Ends the API keys that the account made, in every company' }),
    }),
  )
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { caller } = ctx;
    const { database, passwords, limits, clock } = ctx.services;
    const { accountId, sessionId } = accountOf(caller);
    if (input.employee_id !== caller.employeeId) {
      const other = await findEmployee(database.forCompany(caller.companyId).db, caller.companyId, input.employee_id);
      throw other ? FORBIDDEN({ detail: 'A password is changed by its owner only.' }) : NOT_FOUND();
    }
    await checkNewPassword(input);
    const account = await getAccountById(database.db, accountId);
    checkNotAddress(input, account.email);
    const turn = { network: ctx.request.network, who: `account ${accountId}` };
    const attempt = `change ${accountId} ${ctx.request.network}`;
    const isMatch = await passwords.matches(account.password_hash, input.current_password, turn, () =>
      limits.signIns.consume(attempt),
    );
    if (!isMatch) throw CURRENT_PASSWORD_WRONG();
    await limits.signIns.refund(attempt);
    const passwordHash = await passwords.hash(input.new_password, turn);

    const now = clock.now();
    await endOpenProofs(ctx.db, account, now);
    const changed = await ctx.db
      .updateTable('accounts')
      .set({ password_hash: passwordHash, updated_at: now })
      .where('account_id', '=', accountId)
      .where('password_hash', '=', account.password_hash)
      .returning('account_id')
      .executeTakeFirst();
    // The password changed during the hashing.
    if (!changed) throw CURRENT_PASSWORD_WRONG();
    const because = 'password changed';
    await endSessions(ctx.db, { accountId, except: sessionId }, because, now);
    if (input.revoke_api_keys === true) await endApiKeys(ctx.db, accountId, because, now);
    const keys = await describeApiKeys(ctx.db, accountId, now);
    const notice = { kind: 'password changed', keys } as const;
    await notifyAccountOwner(ctx.db, { email: account.email, notice, request: ctx.request, now });
    return { success: true } as const;
  });
