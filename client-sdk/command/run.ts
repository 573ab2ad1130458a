import { createRequire } from 'node:module';
import { exitCodes, Problem, UsageProblem } from './problem.ts';
import { parseFlags } from './flags.ts';
import { shortcuts, type ShortcutCall } from './shortcuts.ts';
import { suggest } from './nearest.ts';

/*
 * Finds what is called and runs it. What a call does not need is not loaded: `wms --version` reads no table of operations,
 * and a help no client.
 */

/** Runs the command; ends with an exit code in `process.exitCode`. */
export async function run(parameters: string[]): Promise<void> {
  const stopping = new AbortController();
  const stop = (): void => {
    if (stopping.signal.aborted) process.exit(exitCodes.stopped);
    stopping.abort(new Problem('Stopped.', exitCodes.stopped));
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader of the output, such as `head`, has closed it.
    if (code === 'EPIPE') process.exit(exitCodes.done);
    process.stderr.write(`The output cannot be written: ${message}.\n`);
    process.exit(exitCodes.failed);
  });
  // What cannot be said is still in the exit code.
  process.stderr.on('error', () => {});
  const { words, rest } = wordsOf(parameters);
  const isJson = rest.includes('--json');
  const call: ShortcutCall = {
    signal: stopping.signal,
    isJson,
    print: (text) => void process.stdout.write(text),
    look: async () => (await import('./show.ts')).lookOf(process.stdout, process.env['NO_COLOR']),
  };
  try {
    await dispatch(words, rest, call);
  } catch (error) {
    const { explainError } = await import('./explain-error.ts');
    const { exitCode, text } = explainError(error, { words: words.join(' '), rest, isJson });
    process.exitCode = exitCode;
    process.stderr.write(`${text}\n`, () => {
      // A request without the signal, such as the one that asks whose API key this is, would keep the process running.
      if (stopping.signal.aborted) process.exit();
    });
  }
}

/** The first two words say what is called; flags may stand before them. */
function wordsOf(parameters: string[]): { words: string[]; rest: string[] } {
  const begin = parameters.findIndex((parameter) => !parameter.startsWith('-'));
  if (begin < 0) return { words: [], rest: parameters };
  const [first, second] = parameters.slice(begin);
  const hasTwo = second !== undefined && !second.startsWith('-') && !Object.hasOwn(shortcuts, first!);
  const count = hasTwo ? 2 : 1;
  const rest = [...parameters.slice(0, begin), ...parameters.slice(begin + count)];
  if (first === 'help') return { words: parameters.slice(begin + 1, begin + 3), rest: ['--help'] };
  return { words: parameters.slice(begin, begin + count), rest };
}

async function dispatch(words: string[], rest: string[], call: ShortcutCall): Promise<void> {
  const [first, second] = words;
  const wantsHelp = rest.includes('--help') || rest.includes('-h');
  if (first === undefined) {
    if (rest.includes('--version')) call.print(`${versionOf()}\n`);
    else if (rest.length === 0 || wantsHelp) call.print((await import('./help.ts')).mainHelp());
    else throw new UsageProblem(`There is no flag ${rest[0]!.split('=')[0]} here. \`wms --help\` lists the commands.`);
    return;
  }
  const listed = Object.hasOwn(shortcuts, first) ? shortcuts[first] : undefined;
  if (listed) {
    const shortcut = await listed.load();
    if (wantsHelp) call.print(`${shortcut.help.trim()}\n`);
    else await shortcut.run(parseFlags(rest, shortcut.flags), call);
    return;
  }
  const { commands } = await import('./table.ts');
  const area = Object.keys(commands).filter((known) => known.startsWith(`${first} `));
  if (area.length === 0) {
    const known = new Set([...Object.keys(shortcuts), ...Object.keys(commands).map((one) => one.split(' ')[0]!)]);
    throw new UsageProblem(`There is no command "${first}".${suggest(first, known)} \`wms --help\` lists all.`);
  }
  if (second === undefined) {
    if (rest.length > 0 && !wantsHelp)
      throw new UsageProblem(`Say which operation. \`wms ${first} --help\` lists them.`);
    call.print((await import('./help.ts')).areaHelp(first));
    return;
  }
  const command = area.includes(words.join(' ')) ? commands[words.join(' ')]! : undefined;
  if (!command) {
    const known = area.map((one) => one.split(' ')[1]!);
    throw new UsageProblem(
      `\`wms ${first}\` has no operation "${second}".${suggest(second, known)} \`wms ${first} --help\` lists them.`,
    );
  }
  if (wantsHelp) call.print((await import('./help.ts')).commandHelp(words.join(' '), command));
  else await (await import('./run-operation.ts')).runOperation(words.join(' '), command, rest, call);
}

function versionOf(): string {
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
  return version;
}
