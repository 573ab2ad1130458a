import { z } from 'zod';
import { reaction } from '../../kernel/reaction.ts';
import { write } from '../../mail/letter.ts';

/** Tells a new employee who added them to which company. Somebody who is gone again by then is told nothing. */
export const sendInvitation = reaction({
  name: 'send-invitation',
  lane: 'mail',
  payload: z.object({ companyId: z.int(), employeeId: z.int(), invitedById: z.int() }),
  async run({ database, settings, mailer }, { companyId, employeeId, invitedById }, { dedupeKey }) {
    const invited = await database.db
      .selectFrom('employees as e')
      .innerJoin('companies as c', 'c.company_id', 'e.company_id')
      .innerJoin('employees as inviter', (join) =>
        join.onRef('inviter.company_id', '=', 'e.company_id').on('inviter.employee_id', '=', invitedById),
      )
      .where('e.company_id', '=', companyId)
      .where('e.employee_id', '=', employeeId)
      .where('e.is_active', '=', true)
      .select(['e.email', 'e.first_name', 'c.name as company', 'inviter.name as inviter', 'inviter.email as from'])
      .executeTakeFirst();
    if (!invited) return;
    const { company, inviter } = invited;
    const letter = {
      template: 'invitation',
      subject: `${inviter} invited you to ${company}`,
      paragraphs: [
        `Hello ${invited.first_name},`,
        `${inviter} (${invited.from}) invited you to ${company}: your place there is ready.`,
        `Sign in with this address, ${invited.email}. You need no password: ask for a code by e-mail.`,
      ],
      action: { label: 'Sign in', url: settings.appUrl },
      footnote: 'If you do not know the sender, you can ignore this message.',
    };
    await mailer.send(write(invited.email, letter), { idempotencyKey: dedupeKey });
  },
});
