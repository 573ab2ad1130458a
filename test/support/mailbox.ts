import type { Mail, Mailer } from '../../server/mail/mailer.ts';

/** Takes mail in the place of a provider. */
export type Mailbox = Mailer & {
  readonly mails: Mail[];
  /** What was sent to an address, the oldest first. */
  to(address: string): Mail[];
  /** Six digits from the last mail to an address. */
  lastCode(address: string): string;
  /** How many sends fail from now on. */
  failNext(count: number): void;
};

export function createMailbox(): Mailbox {
  const mails: Mail[] = [];
  let failing = 0;
  const to = (address: string) => mails.filter((mail) => mail.to === address);
  return {
    mails,
    to,
    async send(mail) {
      if (failing > 0) {
        failing -= 1;
        throw new Error('the mail provider is down');
      }
      mails.push(mail);
    },
    lastCode(address) {
      const code = /^\d{6}$/m.exec(to(address).at(-1)?.text ?? '')?.[0];
      if (code === undefined) throw new Error(`no code was sent to ${address}`);
      return code;
    },
    failNext: (count) => void (failing = count),
  };
}
