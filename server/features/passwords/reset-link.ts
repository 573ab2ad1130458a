import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { hashSecret } from '../../kernel/authentication.ts';
import { jobHandler } from '../../kernel/job.ts';
import { renderMail } from '../../mail/mail-template.ts';
import { findAccount, getOrInsertAccount } from '../auth/accounts.ts';
import { isInvited } from '../memberships/open-invitations.ts';

const lifetimeMs = 30 * 60 * 1000;

/**
 * Generates a reset token and mails its link, to known addresses only. The request itself does not check the address.
 */
export const sendResetLink = jobHandler({
  name: 'send-reset-link',
  queue: 'mail',
  payload: z.object({ email: z.string() }),
  async run({ database, clock, settings, mailer, log }, { email }, { dedupeKey, createdAt }) {
    const now = clock.now();
    if (now.getTime() - createdAt.getTime() > lifetimeMs) {
      log.warn({}, 'a reset link was not sent: it would have expired by now');
      return;
    }
    const account =
      (await findAccount(database.db, email)) ??
      ((await isInvited(database.db, email)) ? await getOrInsertAccount(database.db, email, now) : undefined);
    if (!account) return;
    const token = randomBytes(32).toString('base64url');
    await database.db
      .insertInto('one_time_tokens')
      .values({
        token_hash: hashSecret(token),
        purpose: 'password_reset',
        account_id: account.account_id,
        created_at: now,
        expires_at: new Date(now.getTime() + lifetimeMs),
      })
      .execute();
    const template = {
      template: 'password-reset',
      subject: 'Set a new password',
      paragraphs: ['Somebody, hopefully you, asked to set a new password for this address.'],
      action: { label: 'Set a new password', url: `${settings.appUrl}/reset-password?token=${token}` },
      footnote:
        'The link works once and for 30 minutes. If you did not ask for it, you can ignore this message: your password stays as it is.',
    };
    await mailer.send(renderMail(email, template), { idempotencyKey: dedupeKey });
  },
});
