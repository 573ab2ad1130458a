/** One message to one person. */
export type Mail = {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Which template it was made from. */
  template: string;
};

/**
 * Hands messages on. It throws where a message was not taken, and the job is retried; {@link MailNotTaken}
 * says more about when. A send that takes longer than `sendWithinMs` is given up.
 */
export type Mailer = {
  send(mail: Mail, options: { idempotencyKey: string }): Promise<void>;
};

/** The longest that one send may take; beyond it nothing is on its way any more. */
export const sendWithinMs = 10_000;

/** A provider did not take a message. The text is for operators; no key and nothing of the message is in it. */
export class MailNotTaken extends Error {
  override name = 'MailNotTaken';
  /** It was refused for what it is, its address or its content: the same again would be refused as well. */
  readonly isRefused: boolean;
  /** When the provider wants to be asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, reasons: { isRefused?: boolean; retryAfterMs?: number | undefined } = {}) {
    super(message);
    this.isRefused = reasons.isRefused ?? false;
    this.retryAfterMs = reasons.retryAfterMs;
  }
}
