import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { UsageProblem } from './problem.ts';

export type Questions = {
  ask(question: string, instead: string): Promise<string>;
  /** What is typed is not shown. */
  askSecret(question: string, instead: string): Promise<string>;
  close(): void;
};

/**
 * Asks at the terminal, or reads a line of what is piped in for each question. `instead` says what to do where nobody
 * answers. Questions go to the standard error, so that the output holds results only.
 */
export function createQuestions(signal: AbortSignal): Questions {
  const { stdin, stderr } = process;
  const isPiped = !stdin.isTTY;
  let isHidden = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!isHidden) stderr.write(chunk);
      done();
    },
  });
  const lines: string[] = [];
  const input = { hasEnded: false };
  let wake: () => void = () => {};
  let reading: Interface | undefined;

  function open(): Interface {
    if (reading) return reading;
    reading = createInterface({ input: stdin, output, terminal: !isPiped });
    // In this mode the terminal hands Ctrl-C over as a key.
    reading.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    reading.on('line', (line) => {
      lines.push(line);
      wake();
    });
    reading.on('close', () => {
      input.hasEnded = true;
      wake();
    });
    signal.addEventListener('abort', () => wake(), { once: true });
    return reading;
  }

  async function nextLine(): Promise<string | undefined> {
    while (lines.length === 0 && !input.hasEnded && !signal.aborted)
      await new Promise<void>((resolve) => (wake = resolve));
    signal.throwIfAborted();
    return lines.shift();
  }

  async function read(question: string, instead: string): Promise<string> {
    const terminal = open();
    if (isPiped || isHidden) stderr.write(question);
    else {
      // So that it stays when what is typed is corrected.
      terminal.setPrompt(question);
      terminal.prompt();
    }
    const line = await nextLine();
    if (line === undefined) throw new UsageProblem(`${isPiped ? '\n' : ''}Nobody answers. ${instead}`);
    return line.trim();
  }

  return {
    ask: read,
    async askSecret(question, instead) {
      isHidden = true;
      try {
        return await read(question, instead);
      } finally {
        isHidden = false;
        stderr.write('\n');
      }
    },
    close: () => reading?.close(),
  };
}
