import { randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Context, MutationScope, Services } from '../../kernel/context.ts';
import { deliver, reaction } from '../../kernel/reaction.ts';
import type { done } from '../../kernel/wire.ts';
import { write, type Letter } from '../../mail/letter.ts';
import { findAccount } from './accounts.ts';
import { INVALID_OTP } from './faults.ts';

/**
 * One-time codes: six digits, sent to an address for one purpose. They are made when the mail is sent and kept only
 * as a keyed hash. A new one replaces the old one; wrong tries are counted whatever becomes of the request.
 */
export type CodePurpose = 'login' | 'registration';

const lifetimeMs = 10 * 60 * 1000;
const triesMax = 5;

const letters: Record<CodePurpose, Omit<Letter, 'code' | 'footnote'>> = {
  login: { template: 'login-code', subject: 'Your sign-in code', paragraphs: ['Here is your code to sign in:'] },
  registration: {
    template: 'registration-code',
    subject: 'Your registration code',
    paragraphs: ['Welcome! Here is your code to register your company:'],
  },
};

/** Makes a code and mails it. What could not be sent while the code would have lived is dropped. */
export const sendCode = reaction({
  name: 'send-code',
  lane: 'mail',
  payload: z.object({ email: z.string(), purpose: z.enum(['login', 'registration']) }),
  async run({ database, clock, tokens, mailer, log }, { email, purpose }, { dedupeKey, createdAt }) {
    const now = clock.now();
    if (now.getTime() - createdAt.getTime() > lifetimeMs) {
      log.warn({ purpose }, 'a code was not sent: it would have expired by now');
      return;
    }
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const row = {
      code_hash: tokens.digest(digestPurpose(purpose, email), code),
      wrong_tries: 0,
      created_at: now,
      expires_at: new Date(now.getTime() + lifetimeMs),
      used_at: null,
    };
    await database.db
      .insertInto('one_time_codes')
      .values({ email, purpose, ...row })
      .onConflict((conflict) => conflict.columns(['email', 'purpose']).doUpdateSet(row))
      .execute();
    // A stranger's address gets no mail that it could not use, and costs the same up to here.
    if (purpose === 'login' && !(await findAccount(database.db, email))) return;
    const footnote = 'It works once and for 10 minutes. If you did not ask for it, you can ignore this message.';
    await mailer.send(write(email, { ...letters[purpose], code, footnote }), { idempotencyKey: dedupeKey });
  },
});

/** Has a code sent, unless the address got its fill already. Whether anybody has that address is looked up when it is sent. */
export async function orderCode(
  { services, db, afterCommit }: Context & MutationScope,
  payload: { email: string; purpose: CodePurpose },
): Promise<z.output<typeof done>> {
  await services.limits.codeSends.take(payload.email);
  await deliver(db, sendCode, { dedupeKey: randomUUID(), payload, now: services.clock.now() });
  afterCommit(services.wakeDeliveries);
  return { success: true };
}

const digestPurpose = (purpose: CodePurpose, email: string): string => `code ${purpose} ${email}`;

/**
 * Tries a code, before the caller's transaction opens, and answers how to use it up inside it.
 * The try is counted first, so that attempts at once cannot outnumber the limit.
 */
export async function tryCode(
  { database, limits, tokens, clock }: Services,
  { email, purpose, code }: { email: string; purpose: CodePurpose; code: string },
): Promise<{ useUp(db: Db): Promise<void> }> {
  await limits.codeTries.take(email);
  const now = clock.now();
  const stored = await database.db
    .updateTable('one_time_codes')
    .set((eb) => ({ wrong_tries: eb('wrong_tries', '+', 1) }))
    .where('email', '=', email)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .where('wrong_tries', '<', triesMax)
    .returning('code_hash')
    .executeTakeFirst();
  if (!stored || !tokens.isDigest(stored.code_hash, digestPurpose(purpose, email), code)) throw INVALID_OTP();
  await limits.codeTries.giveBack(email);
  return {
    async useUp(db) {
      const used = await db
        .updateTable('one_time_codes')
        .set({ used_at: now })
        .where('email', '=', email)
        .where('purpose', '=', purpose)
        .where('code_hash', '=', stored.code_hash)
        .where('used_at', 'is', null)
        .returning('email')
        .executeTakeFirst();
      if (!used) throw INVALID_OTP();
    },
  };
}

/** Six digits as text: leading zeros count. */
export const otp = z
  .string()
  .trim()
  .regex(/^\d{6}$/, 'must be 6 digits')
  .meta({ examples: ['042917'] });
