import { existsSync, readFileSync } from 'node:fs';

type Mail = { to: string; text: string; at: string };

/** The mails in the file that stands for them where no provider is set up. A line that is being written is not whole yet. */
export function readMails(file: string): Mail[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Mail);
}
