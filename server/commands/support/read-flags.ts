import { parseArgs } from 'node:util';

/**
 * The command line of a command that takes flags alone. Where it asks for help or has anything else, the usage is printed, nothing is
 * returned, and the command must do nothing: exit code 0 for help, 2 for the rest.
 */
export function readFlags<Flag extends string = never>(
  usage: string,
  names: readonly Flag[] = [],
): Record<Flag, boolean> | undefined {
  const flag = { type: 'boolean', default: false } as const;
  const options = { ...Object.fromEntries(names.map((name) => [name, flag])), help: { ...flag, short: 'h' } };
  try {
    const { values } = parseArgs({ options });
    if (!values.help) return values as Record<Flag, boolean>;
    process.stdout.write(`${usage}\n`);
  } catch (error) {
    // The error of parseArgs names the wrong argument.
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}\n`);
    process.exitCode = 2;
  }
  return undefined;
}
