import { z } from 'zod';
import { FORBIDDEN, NOT_FOUND, OVERLOADED, SESSION_REQUIRED } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member, sessionOf } from '../../kernel/procedures.ts';
import { done, id } from '../../kernel/wire.ts';
import { endSessions, getAccountById } from '../auth/accounts.ts';
import { findEmployee } from '../employees/queries.ts';
import { CURRENT_PASSWORD_WRONG, PASSWORD_MISMATCH, PASSWORD_TOO_WEAK } from './faults.ts';
import { checkNewPassword, newPasswordFields } from './new-password.ts';

export const changePassword = member
  .meta(
    rest('PUT /employee/password/{employee_id}/', {
      section: 'Password management',
      summary: "Change one's own password",
      description:
        'The current password is verified; ten wrong ones in 15 minutes close the operation for that time. Ends every other session of the account. An account without a password sets its first one by a reset link.',
      faults: [FORBIDDEN, SESSION_REQUIRED, CURRENT_PASSWORD_WRONG, PASSWORD_MISMATCH, PASSWORD_TOO_WEAK, OVERLOADED],
      example: {
        current_password: 'old and long enough',
        new_password: 'correct horse battery',
        confirm_password: 'correct horse battery',
      },
    }),
  )
  .input(z.object({ employee_id: id, current_password: z.string().max(1024), ...newPasswordFields }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { caller } = ctx;
    const { database, passwords, limits, clock } = ctx.services;
    const current = sessionOf(caller);
    if (input.employee_id !== caller.employeeId) {
      const other = await findEmployee(database.db, caller.companyId, input.employee_id);
      throw other ? FORBIDDEN({ detail: 'A password is changed by its owner only.' }) : NOT_FOUND();
    }
    checkNewPassword(input);
    const account = await getAccountById(database.db, caller.accountId);
    const attempt = `change ${caller.accountId} ${ctx.request.network}`;
    const isMatch = await passwords.matches(account.password_hash, input.current_password, () =>
      limits.signIns.take(attempt),
    );
    if (!isMatch) throw CURRENT_PASSWORD_WRONG();
    await limits.signIns.giveBack(attempt);
    const passwordHash = await passwords.hash(input.new_password);

    const now = clock.now();
    const changed = await ctx.db
      .updateTable('accounts')
      .set({ password_hash: passwordHash, updated_at: now })
      .where('account_id', '=', caller.accountId)
      .where('password_hash', '=', account.password_hash)
      .returning('account_id')
      .executeTakeFirst();
    // Somebody else changed it while this was hashed.
    if (!changed) throw CURRENT_PASSWORD_WRONG();
    await endSessions(ctx.db, { accountId: caller.accountId, except: current }, 'password changed', now);
    return { success: true } as const;
  });
