import sendGrid from '@sendgrid/mail';
import type { Mailer } from './mailer.ts';

const timeoutMs = 10_000;

/** Sends through SendGrid. Its client is one for the process and has no time limit of its own. */
export function createSendGridMailer({ apiKey, from }: { apiKey: string; from: string }): Mailer {
  sendGrid.setApiKey(apiKey);
  sendGrid.setTimeout(timeoutMs);
  return {
    async send({ to, subject, text, html, template }, { idempotencyKey }) {
      await sendGrid.send({
        to,
        from,
        subject,
        text,
        html,
        categories: [template],
        customArgs: { idempotencyKey },
        // Codes and links must arrive as they were written.
        trackingSettings: { clickTracking: { enable: false, enableText: false }, openTracking: { enable: false } },
      });
    },
  };
}
