import { parseArgs, type ParseArgsConfig } from 'node:util';
import { connectionOptions } from './connection.ts';
import { Problem, UsageProblem } from './problem.ts';
import { explain } from './sentences.ts';

type Options = NonNullable<ParseArgsConfig['options']>;
type AllOptions<Own extends Options> = Own & typeof connectionOptions & { help: { type: 'boolean'; short: 'h' } };
type Values<Own extends Options> = ReturnType<
  typeof parseArgs<{ options: AllOptions<Own>; allowPositionals: true }>
>['values'];

export type Call<Own extends Options> = {
  values: Values<Own>;
  /** What stands on the command line beside the options. */
  operands: string[];
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
};

/**
 * Runs a script: reads its command line, shows its help, stops it at Ctrl-C (a second one ends it at once), and says what
 * went wrong in words. It ends with 0 when all is done, 1 when it failed or only a part is done, 2 when it was called wrongly.
 */
export async function run<Own extends Options>(
  help: string,
  own: Own,
  main: (call: Call<Own>) => Promise<0 | 1>,
): Promise<void> {
  const stopping = new AbortController();
  const stop = (): void => {
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort(new Problem('Stopped.'));
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  // The reader of the output, such as `head`, has closed it.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

  let url: string | undefined;
  try {
    const { values, positionals: operands } = parse({
      ...own,
      ...connectionOptions,
      help: { type: 'boolean', short: 'h' },
    });
    ({ url } = values as { url?: string });
    if ((values as { help?: boolean }).help === true) process.stdout.write(`${help.trim()}\n`);
    else process.exitCode = await main({ values, operands, signal: stopping.signal });
  } catch (error) {
    process.stderr.write(`${explain(error, url)}\n`);
    process.exitCode = error instanceof UsageProblem ? 2 : 1;
  }
}

function parse<Own extends Options>(options: AllOptions<Own>): { values: Values<Own>; positionals: string[] } {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new UsageProblem((error as Error).message.split('. ')[0]!);
  }
}

/** The one operand that a script takes. */
export function onlyOperand(operands: string[], what: string): string {
  const [operand, ...more] = operands;
  if (operand === undefined) throw new UsageProblem(`Say ${what}`);
  if (more.length > 0) throw new UsageProblem(`Say only one: ${what}`);
  return operand;
}

/** Whether something that was thrown only says that Ctrl-C was pressed. */
export function isStop(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && error === signal.reason;
}
