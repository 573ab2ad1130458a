import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { RequestInfo } from '../../kernel/context.ts';
import { enqueueJob, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { renderMail } from '../../mail/mail-template.ts';
import { deviceOf } from './device.ts';

/*
 * Mails that tell the owner of an address what was done with their account or in their name, and what to do if it was
 * not them. They contain no secret and no link except to the app.
 */

const Notice = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('password changed'), keys: z.array(z.string()) }),
  z.object({ kind: z.literal('password reset') }),
  z.object({ kind: z.literal('api key made'), name: z.string(), company: z.string(), scopes: z.array(z.string()) }),
  z.object({
    kind: z.literal('client authorized'),
    name: z.string(),
    company: z.string(),
    scopes: z.array(z.string()),
  }),
  z.object({ kind: z.literal('new device') }),
  z.object({ kind: z.literal('signed in by key'), name: z.string(), company: z.string() }),
  z.object({ kind: z.literal('unlinked'), company: z.string() }),
]);
export type Notice = z.infer<typeof Notice>;

const ifNotYou =
  'If this was not you, set a new password now: choose “forgot password” where you sign in. That ends every session and API key of your account.';

/** The content of each mail: subject, event, and advice. */
function contentOf(notice: Notice): { subject: string; happened: string[]; advice: string } {
  switch (notice.kind) {
    case 'password changed': {
      const { keys } = notice;
      const alive =
        keys.length === 0
          ? 'No API key of yours is valid any more, or there was none.'
          : `These API keys that you made stay valid:\n${keys.map((key) => `- ${key}`).join('\n')}`;
      return {
        subject: 'Your password was changed',
        happened: ['The password of your account was changed, and all your other sessions have ended.', alive],
        advice: ifNotYou,
      };
    }
    case 'password reset':
      return {
        subject: 'Your password was reset',
        happened: [
          'The password of your account was set by a reset link. All your sessions and the API keys that you made have ended.',
        ],
        advice: ifNotYou,
      };
    case 'api key made': {
      const { name, company, scopes } = notice;
      return {
        subject: 'A new API key was made in your name',
        happened: [`The API key “${name}” was made in ${company}. It may act as you there: ${scopes.join(', ')}.`],
        advice: `${ifNotYou} An admin of ${company} can end the key as well.`,
      };
    }
    case 'client authorized': {
      const { name, company, scopes } = notice;
      return {
        subject: 'You let a program act as you',
        happened: [`The program that calls itself “${name}” may act as you in ${company}: ${scopes.join(', ')}.`],
        advice: `To end that, delete it among your API keys. ${ifNotYou} An admin of ${company} can end it as well.`,
      };
    }
    case 'new device':
      return {
        subject: 'A sign-in from a new device',
        happened: ['Somebody signed in to your account from a device that we have not seen there lately.'],
        advice: ifNotYou,
      };
    case 'signed in by key': {
      const { name, company } = notice;
      return {
        subject: `An API key of ${company} signed you in`,
        happened: [
          `The API key “${name}” of ${company} opened a session in your name for the first time. It acts as you in ${company} and reaches neither your account nor your other companies.`,
        ],
        advice: `If you do not expect this, ask an admin of ${company} to end your sessions, or to remove you from the company.`,
      };
    }
    case 'unlinked': {
      const { company } = notice;
      return {
        subject: `Your place in ${company} has another address now`,
        happened: [
          `${company} has changed the address of your place there, so your sessions and API keys in ${company} have ended. Your account, its password and your other companies are as they were.`,
        ],
        advice: `If this is a mistake, ask an admin of ${company} to invite your address again.`,
      };
    }
  }
}

const sendAccountNotice = jobHandler({
  name: 'account-notice',
  queue: 'mail',
  payload: z.object({
    email: z.string(),
    device: z.string().nullable(),
    network: z.string().nullable(),
    notice: Notice,
  }),
  async run({ settings, mailer }, { email, device, network, notice }, { dedupeKey, createdAt }) {
    const { subject, happened, advice } = contentOf(notice);
    const time = `${createdAt.toISOString().slice(0, 16).replace('T', ', ')} UTC`;
    const from = device === null ? '' : `\nDevice: ${device}\nNetwork: ${network ?? 'unknown'}`;
    const template = {
      template: 'account-notice',
      subject,
      paragraphs: [...happened, `Time: ${time}${from}`, advice],
      action: { label: 'Open the app', url: settings.appUrl },
      footnote: 'You receive this because it concerns the safety of your account. It cannot be turned off.',
    };
    await mailer.send(renderMail(email, template), { idempotencyKey: dedupeKey });
  },
});

/**
 * Enqueues a notice to the owner of an address, in the transaction of its cause. `request` is omitted if somebody else
 * acted.
 */
export async function notifyAccountOwner(
  db: Db,
  { email, notice, request, now }: { email: string; notice: Notice; request?: RequestInfo; now: Date },
): Promise<void> {
  const payload = {
    email,
    device: request ? deviceOf(request.userAgent) : null,
    network: request?.network ?? null,
    notice,
  };
  await enqueueJob(db, sendAccountNotice, { dedupeKey: randomUUID(), payload, now });
}

export const handlers: AnyJobHandler[] = [sendAccountNotice];
