import { appendFile } from 'node:fs/promises';
import type { Log } from '../platform/log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Mailer } from './mailer.ts';

/** Appends each message as one JSON line, so that a newcomer can read the code they were sent. */
export function createFileMailer(file: string, clock: Clock, log: Log): Mailer {
  // Appends one line after another: simultaneous appends could mix.
  let last: Promise<unknown> = Promise.resolve();
  return {
    async send({ to, subject, text, html, template }) {
      const line = `${JSON.stringify({ to, subject, text, html, template, at: clock.now().toISOString() })}\n`;
      const written = last.then(() => appendFile(file, line, { mode: 0o600 }));
      last = written.catch(() => {});
      await written;
      log.info({ template, file }, 'mail written to the file (set SENDGRID_API_KEY to send it)');
    },
  };
}
