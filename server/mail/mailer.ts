/** One message to one person. */
export type Mail = {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The name of its template. */
  template: string;
};

/**
 * Sends messages. It throws if a message was not accepted, and the job is retried; {@link MailNotTaken} says when. A
 * send that takes longer than `sendWithinMs` is aborted.
 */
export type Mailer = {
  send(mail: Mail, options: { idempotencyKey: string }): Promise<void>;
};

/** The longest that one send may take; after it no request is open. */
export const sendWithinMs = 10_000;

/**
 * A provider did not accept a message. The text is for operators and contains neither the key nor anything of the
 * message.
 */
export class MailNotTaken extends Error {
  override name = 'MailNotTaken';
  /** Whether it was refused for its address or content: the same message would be refused again. */
  readonly isRefused: boolean;
  /** When the provider asks for the next attempt. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, reasons: { isRefused?: boolean; retryAfterMs?: number } = {}) {
    super(message);
    this.isRefused = reasons.isRefused ?? false;
    this.retryAfterMs = reasons.retryAfterMs;
  }
}
