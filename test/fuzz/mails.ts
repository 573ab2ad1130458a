import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

type Mail = { to: string; text: string };

/** The mails that the service has sent. */
export type Mails = {
  /** Those that nobody has seen yet. */
  takeNew(): Promise<Mail[]>;
  /** What the pattern finds in the next mail to an address. */
  next(to: string, pattern: RegExp): Promise<string>;
};

const mailWithinMs = 20_000;

/** `read` answers the mails that have come since it was called last. */
export function followMails(read: () => Promise<Mail[]>): Mails {
  // Those that came while another one was waited for.
  let unseen: Mail[] = [];

  async function takeNew(): Promise<Mail[]> {
    const mails = [...unseen, ...(await read())];
    unseen = [];
    return mails;
  }

  return {
    takeNew,
    async next(to, pattern) {
      const until = performance.now() + mailWithinMs;
      while (performance.now() < until) {
        const mails = await takeNew();
        const found = mails.find((mail) => mail.to === to && pattern.test(mail.text));
        unseen = mails.filter((mail) => mail !== found);
        if (found) return pattern.exec(found.text)![1]!;
        await wait(20);
      }
      throw new Error(`no mail to ${to} came within ${mailWithinMs / 1000} s`);
    },
  };
}

/** The file that stands for mail where no provider is set up. */
export function followMailFile(file: string): Mails {
  let read = 0;
  return followMails(async () => {
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    const end = bytes.lastIndexOf('\n') + 1;
    const lines = bytes.subarray(read, end).toString().split('\n');
    read = end;
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Mail);
  });
}
