import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { UsageProblem } from './problem.ts';

/** Asks a person at the terminal; `insteadSay` is what a script without one is told to do. */
export async function ask(question: string, insteadSay: string, signal: AbortSignal): Promise<string> {
  return read(question, insteadSay, signal, process.stderr);
}

/** Asks for something that must not be seen: what is typed is not shown. */
export async function askHidden(question: string, insteadSay: string, signal: AbortSignal): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  process.stderr.write(question);
  try {
    return await read('', insteadSay, signal, nowhere);
  } finally {
    process.stderr.write('\n');
  }
}

async function read(
  question: string,
  insteadSay: string,
  signal: AbortSignal,
  output: NodeJS.WritableStream,
): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageProblem(insteadSay);
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  // In this mode the terminal hands Ctrl-C over as a key.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return (await lines.question(question, { signal })).trim();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    lines.close();
  }
}

/** A password that another program hands over, without its line end. */
export async function passwordFromStdin(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '');
}
