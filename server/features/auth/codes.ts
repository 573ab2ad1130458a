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
 * One-time codes: six digits, sent to an address for one purpose. They are made when the mail is sent and kept only
 * as a keyed hash. A new one replaces the old one; wrong tries are counted whatever becomes of the request.
 *
 * - Five wrong tries kill a code. Twenty a day at one address close it to guessing, whatever the networks.
 * - From then on a code is tried once, and only by the network that asked for it: the owner's next code works, and what
 *   others guess neither is looked at nor kills it. A network that guesses so in vain may do it five times a day.
 * - So one network has at most 25 guesses a day in a million, and any number of networks 140: twenty, and one for each
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

/** Makes a code and mails it. What could not be sent while the code would have lived is dropped. */
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
    // A stranger's address gets no mail that it could not use, and costs the same up to here.
    const isKnown = (await findAccount(database.db, email)) !== undefined || (await isInvited(database.db, email));
    if (purpose === 'login' && !isKnown) return;
    const footnote = 'It works once and for 10 minutes. If you did not ask for it, you can ignore this message.';
    await mailer.send(renderMail(email, { ...templates[purpose], code, footnote }), { idempotencyKey: dedupeKey });
  },
});

/** Has a code sent, unless the address got its fill already. Whether anybody has that address is looked up when it is sent. */
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
 * Tries a code, before the caller's transaction opens, and answers how to use it up inside it.
 * The try is counted first, so that attempts at once cannot outnumber the limit.
 */
export async function verifyOtp(
  { services, request }: Context,
  { email, purpose, code }: { email: string; purpose: OtpPurpose; code: string },
): Promise<{ useUp(db: Db): Promise<void> }> {
  const { database, tokens, clock } = services;
  const { refund, refusal } = await consumeAttempt(services, email, request.network);
  const now = clock.now();
  const stored = await database.db
    .updateTable('one_time_codes')
    .set((eb) => ({ wrong_tries: eb('wrong_tries', '+', refusal ? attemptsMax : 1) }))
    .where('email', '=', email)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .where('wrong_tries', '<', refusal ? 1 : attemptsMax)
    .$if(refusal !== undefined, (query) => query.where('asked_by_network', '=', request.network))
    .returning('code_hash')
    .executeTakeFirst();
  if (!stored && refusal) {
    // Nothing was guessed at.
    await refund();
    throw refusal;
  }
  if (!stored || !tokens.isDigest(stored.code_hash, digestPurpose(purpose, email), code)) throw INVALID_OTP();
  await refund();
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

/** Counts a try; `refusal` is what an address that is closed to guessing answers, and its tries are counted by network. */
async function consumeAttempt({ limits }: Services, email: string, network: string) {
  try {
    await limits.codeTries.consume(email);
    return { refusal: undefined, refund: async () => limits.codeTries.refund(email) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const key = `${email} ${network}`;
    await limits.lateCodeTries.consume(key);
    return { refusal: error, refund: async () => limits.lateCodeTries.refund(key) };
  }
}

/** Six digits as text: leading zeros count. */
export const otp = z
  .string()
  .trim()
  .regex(/^\d{6}$/, 'must be 6 digits')
  .meta({ examples: ['042917'] });
