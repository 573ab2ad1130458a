import { randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Context, MutationScope, Services } from '../../kernel/context.ts';
import { ApiError } from '../../errors/api-error.ts';
import { enqueueJob, jobHandler } from '../../kernel/job.ts';
import type { done } from '../../kernel/wire/fields.ts';
import { renderMail, type MailTemplate } from '../../mail/mail-template.ts';
import { isInvited } from '../memberships/open-invitations.ts';
import { findAccount } from './accounts.ts';
import { INVALID_OTP } from './errors.ts';

/**
 * One-time codes: six digits, sent to an address for one purpose. They are generated when the mail is sent and stored
 * only as a keyed hash. A new code replaces the old one; wrong tries are counted even if the request fails.
 *
 * - Five wrong tries invalidate a code. Twenty a day at one address lock it against guessing, from all networks
 *   together.
 * - From then on a code can be tried once, and only by the network that requested it: the owner's next code works, and
 *   guesses of others are neither checked nor invalidate it. A network may guess wrong five times a day in this state.
 * - So one network has at most 25 guesses a day in a million, and all networks together 140: twenty, and one for each
 *   of the 120 codes that can be sent in a day, each with a mail to the owner.
 */
export type OtpPurpose = 'login' | 'registration';

const lifetimeMs = 10 * 60 * 1000;
const attemptsMax = 5;

const templates: Record<OtpPurpose, Omit<MailTemplate, 'code' | 'footnote'>> = {
  login: { template: 'login-code', subject: 'Your sign-in code', paragraphs: ['Here is your code to sign in:'] },
  registration: {
    template: 'registration-code',
    subject: 'Your registration code',
    paragraphs: ['Welcome! Here is your code to register your company:'],
  },
};

/** Generates a code and mails it. A job that could not run while the code would have been valid is dropped. */
export const sendOtp = jobHandler({
  name: 'send-code',
  queue: 'mail',
  payload: z.object({
    email: z.string(),
    purpose: z.enum(['login', 'registration']),
    network: z.string().optional(),
  }),
  async run({ database, clock, tokens, mailer, log }, { email, purpose, network }, { dedupeKey, createdAt }) {
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
      asked_by_network: network ?? null,
    };
    await database.db
      .insertInto('one_time_codes')
      .values({ email, purpose, ...row })
      .onConflict((conflict) => conflict.columns(['email', 'purpose']).doUpdateSet(row))
      .execute();
    // An unknown address gets no mail, because it could not use one; the cost up to here is the same.
    const isKnown = (await findAccount(database.db, email)) !== undefined || (await isInvited(database.db, email));
    if (purpose === 'login' && !isKnown) return;
    const footnote = 'It works once and for 10 minutes. If you did not ask for it, you can ignore this message.';
    await mailer.send(renderMail(email, { ...templates[purpose], code, footnote }), { idempotencyKey: dedupeKey });
  },
});

/** Requests a code, unless the address reached its limit. The job checks whether the address is known. */
export async function requestOtp(
  { services, request, db }: Context & Pick<MutationScope, 'db'>,
  wanted: { email: string; purpose: OtpPurpose },
): Promise<z.output<typeof done>> {
  await services.limits.codeSends.consume(wanted.email);
  const payload = { ...wanted, network: request.network };
  await enqueueJob(db, sendOtp, { dedupeKey: randomUUID(), payload, now: services.clock.now() });
  return { success: true };
}

const digestPurpose = (purpose: OtpPurpose, email: string): string => `code ${purpose} ${email}`;

/**
 * Verifies a code before the caller's transaction opens, and returns a function that uses it up inside the transaction.
 * The try is counted first, so that concurrent attempts cannot exceed the limit.
 */
export async function verifyOtp(
  { services, request }: Context,
  { email, purpose, code }: { email: string; purpose: OtpPurpose; code: string },
): Promise<{ useUp(db: Db): Promise<void> }> {
  const { database, tokens, clock } = services;
  const { refund, lockedError } = await consumeAttempt(services, email, request.network);
  const now = clock.now();
  const stored = await database.db
    .updateTable('one_time_codes')
    .set((eb) => ({ wrong_tries: eb('wrong_tries', '+', lockedError ? attemptsMax : 1) }))
    .where('email', '=', email)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .where('wrong_tries', '<', lockedError ? 1 : attemptsMax)
    .$if(lockedError !== undefined, (query) => query.where('asked_by_network', '=', request.network))
    .returning('code_hash')
    .executeTakeFirst();
  if (!stored && lockedError) {
    // No code was guessed.
    await refund();
    throw lockedError;
  }
  if (!stored || !tokens.isDigest(stored.code_hash, digestPurpose(purpose, email), code)) throw INVALID_OTP();
  await refund();
  return {
    async useUp(db) {
      await db
        .updateTable('one_time_codes')
        .set({ used_at: now })
        .where('email', '=', email)
        .where('purpose', '=', purpose)
        .where('code_hash', '=', stored.code_hash)
        .where('used_at', 'is', null)
        .returning('email')
        .executeTakeFirstOrThrow(() => INVALID_OTP());
    },
  };
}

/**
 * Counts a try; `lockedError` is the error for an address that is locked against guessing, whose tries are counted by
 * network.
 */
async function consumeAttempt({ limits }: Services, email: string, network: string) {
  try {
    await limits.codeTries.consume(email);
    return { lockedError: undefined, refund: async () => limits.codeTries.refund(email) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const key = `${email} ${network}`;
    await limits.lateCodeTries.consume(key);
    return { lockedError: error, refund: async () => limits.lateCodeTries.refund(key) };
  }
}

/** Six digits as text: leading zeros count. */
export const otp = z
  .string()
  .trim()
  .regex(/^\d{6}$/, 'must be 6 digits')
  .meta({ examples: ['042917'] });
