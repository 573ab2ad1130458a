import { readFileSync, statSync } from 'node:fs';

export type Mail = { to: string; subject: string; text: string; html: string; template: string; at: string };

/**
 * Looks at the mails in the file that stands for them where no provider is set up. Each look reads what has been added since the
 * one before; a line that is being written is not whole yet.
 */
export function followMails(file: string): () => Mail[] {
  const mails: Mail[] = [];
  let readBytes = 0;
  return () => {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > readBytes) {
      const added = readFileSync(file).subarray(readBytes);
      const lines = added.subarray(0, added.lastIndexOf('\n') + 1);
      readBytes += lines.length;
      for (const line of lines.toString().split('\n')) if (line !== '') mails.push(JSON.parse(line) as Mail);
    }
    return [...mails];
  };
}

export const readMails = (file: string): Mail[] => followMails(file)();
