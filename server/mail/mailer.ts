/** One message to one person. */
export type Mail = {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Which template it was made from. */
  template: string;
};

/** Hands messages on. It throws where a message was not taken, and the delivery is tried again. */
export type Mailer = {
  send(mail: Mail, options: { idempotencyKey: string }): Promise<void>;
};
