import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { createFileMailer } from '../mail/file-mailer.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { CannotStart, reasonOf } from './cannot-start.ts';

/** The file for mail if SendGrid is not configured. */
export function mailFileOf({ SENDGRID_API_KEY: key }: Config, folder: string): string | undefined {
  return key === undefined ? join(folder, 'mail.jsonl') : undefined;
}

/** Refuses a mail file that cannot be written at the start, not when a user waits for a code. */
export function requireWritable(file: string | undefined): void {
  if (file === undefined || !existsSync(file)) return;
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new CannotStart(
      `Mail cannot be written to ${file} (${reasonOf(error)}): make it a file that this user may write, or set SENDGRID_API_KEY.`,
    );
  }
}

export async function createMailer(
  config: Config,
  mailFile: string | undefined,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<Mailer> {
  const { SENDGRID_API_KEY: apiKey, SENDGRID_BASE_URL: baseUrl, MAIL_FROM: from } = config;
  if (mailFile !== undefined) return createFileMailer(mailFile, clock, logger);
  const { createSendGridMailer } = await import('../mail/sendgrid-mailer.ts');
  return createSendGridMailer({ apiKey: apiKey!, baseUrl, from, clock });
}
