import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { hashSecret } from '../../kernel/authentication.ts';
import { enqueueJobs, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { renderMail } from '../../mail/mail-template.ts';
import { selectOpenInvitations } from './open-invitations.ts';

/** Mails an invitation with a link that proves the address, unless the invitation has ended. */
const sendInvitation = jobHandler({
  name: 'send-invitation',
  queue: 'mail',
  payload: z.object({ companyId: z.int(), invitationId: z.int() }),
  async run({ database, settings, mailer }, { companyId, invitationId }, { dedupeKey }) {
    const { db } = database.forCompany(companyId);
    const invited = await selectOpenInvitations(db)
      .where('i.company_id', '=', companyId)
      .where('i.invitation_id', '=', invitationId)
      .select(['i.email', 'e.first_name', 'c.name as company', 'inviter.name as inviter', 'inviter.email as from'])
      .executeTakeFirst();
    if (!invited) return;

    const token = randomBytes(32).toString('base64url');
    await db
      .updateTable('invitations')
      .set({ token_hash: hashSecret(token) })
      .where('company_id', '=', companyId)
      .where('invitation_id', '=', invitationId)
      .where('ended_at', 'is', null)
      .execute();

    const { company, email } = invited;
    const inviter = invited.inviter ?? company;
    const from = invited.from === null ? '' : ` (${invited.from})`;
    const template = {
      template: 'invitation',
      subject: `${inviter} invited you to ${company}`,
      paragraphs: [
        `Hello ${invited.first_name},`,
        `${inviter}${from} invited you to ${company}. Nothing happens until you accept.`,
        `Sign in with this address, ${email}: you need no password, ask for a code by e-mail. If you are in other companies already, sign in and follow the link below to accept.`,
      ],
      action: { label: 'Open the invitation', url: `${settings.appUrl}/invitations/${invitationId}?token=${token}` },
      footnote: 'If you do not know the sender, you can ignore this message, or decline the invitation.',
    };
    await mailer.send(renderMail(email, template), { idempotencyKey: dedupeKey });
  },
});

/** Enqueues the mails of invitations, one job for each. */
export async function mailInvitations(
  db: Db,
  companyId: number,
  invitationIds: readonly number[],
  now: Date,
): Promise<void> {
  const jobs = invitationIds.map((invitationId) => ({
    dedupeKey: `${companyId} ${invitationId}`,
    payload: { companyId, invitationId },
  }));
  await enqueueJobs(db, sendInvitation, jobs, now);
}

/** Mails the invitations of a reopened company whose mails were due while it was closed: these have no link yet. */
export async function mailHeldInvitations(db: Db, companyId: number, now: Date): Promise<void> {
  const held = await selectOpenInvitations(db)
    .where('i.company_id', '=', companyId)
    .where('i.mailed_at', 'is not', null)
    .where('i.token_hash', 'is', null)
    .select('i.invitation_id as id')
    .execute();
  await mailInvitations(
    db,
    companyId,
    held.map(({ id }) => id),
    now,
  );
}

export const handlers: AnyJobHandler[] = [sendInvitation];
