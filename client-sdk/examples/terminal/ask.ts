import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { UsageProblem } from './problem.ts';

/** Asks a person at the terminal; `insteadSay` is what a script without one is told to do. */
export async function ask(question: string, insteadSay: string, signal: AbortSignal): Promise<string> {
  return read({ output: process.stderr, question, insteadSay, signal });
}

/** Asks for something that must not be seen: what is typed is not shown. */
export async function askHidden(question: string, insteadSay: string, signal: AbortSignal): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const onReady = (): void => void process.stderr.write(question);
  const answer = await read({ output, question: '', insteadSay, signal, onReady });
  process.stderr.write('\n');
  return answer;
}

type Question = {
  output: NodeJS.WritableStream;
  question: string;
  insteadSay: string;
  signal: AbortSignal;
  /** Called when the terminal does not show by itself what is typed any more. */
  onReady?: () => void;
};

async function read({ output, question, insteadSay, signal, onReady }: Question): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageProblem(insteadSay);
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  // In this mode the terminal hands Ctrl-C over as a key.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const answer = lines.question(question, { signal });
    onReady?.();
    return (await answer).trim();
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
