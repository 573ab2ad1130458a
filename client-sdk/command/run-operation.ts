import { createWriteStream, existsSync, statSync, type Stats } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Client, Download } from 'work-management-client';
import { plainJson } from '../examples/terminal/plain-text.ts';
import { createQuestions } from './ask.ts';
import type { Command } from './command.ts';
import { connect, notSignedIn } from './connect.ts';
import { flagsOf, parseFlags, type Parsed } from './flags.ts';
import { lookUpNames } from './look-up.ts';
import { UsageProblem } from './problem.ts';
import { readInput, type Input } from './read-input.ts';
import { showAnswer } from './show.ts';
import { showEvent } from './show-event.ts';
import type { ShortcutCall } from './shortcuts.ts';

type Options = { signal: AbortSignal };
type Method = (input: Input | Options, options?: Options) => Promise<unknown>;

/** Calls an operation, and shows its answer. */
export async function runOperation(
  words: string,
  command: Command,
  parameters: string[],
  call: ShortcutCall,
): Promise<void> {
  const parsed = parseFlags(parameters, flagsOf(command));
  const questions = createQuestions(call.signal);
  const askSecret = async (field: string): Promise<string> =>
    questions.askSecret(`${field.replaceAll('_', ' ')}: `, 'Give it in --input @FILE or --input -.');
  const given = await readInput(words, command, parsed, askSecret).finally(questions.close);
  await callOperation(command, given, parsed, call);
}

/** The same, with an input that is read already. */
export async function callOperation(
  command: Command,
  given: Input,
  { values }: Pick<Parsed, 'values'>,
  call: ShortcutCall,
): Promise<void> {
  const connection = connect();
  const { client } = connection;
  try {
    if (command.isOpen !== true && connection.by === 'nothing') throw notSignedIn(connection.url);
    const input = await lookUpNames(client, given, call.signal);
    const { does, pages } = command;
    if (does === 'subscription') await follow(client, command, input, call);
    else if (does === 'download') await download(client, command, input, values['output'] as string | undefined, call);
    else {
      const isWhole = pages !== undefined && values['all'] === true;
      const answer = isWhole ? await readAll(client, command, input, call) : await send(client, command, input, call);
      call.print(call.isJson ? `${plainJson(answer, 2)}\n` : showAnswer(answer, await call.look()));
    }
  } finally {
    client.close();
  }
}

function methodOf(client: Client, { operation }: Command): Method {
  const [area, verb] = operation.split('.') as [string, string];
  return (client as unknown as Record<string, Record<string, Method>>)[area]![verb]!;
}

async function send(client: Client, command: Command, input: Input, { signal }: ShortcutCall): Promise<unknown> {
  const method = methodOf(client, command);
  return Object.keys(command.fields).length === 0 ? method({ signal }) : method(input, { signal });
}

/** Every item of a list, from the page that was asked for on. */
async function readAll(client: Client, command: Command, input: Input, call: ShortcutCall): Promise<unknown[]> {
  const items: unknown[] = [];
  if (command.pages === 'page') {
    const list = methodOf(client, command)(input, call) as unknown as AsyncIterable<unknown>;
    for await (const item of list) items.push(item);
    return items;
  }
  for (let cursor: unknown = input['cursor']; cursor !== null;) {
    const page = (await send(client, command, cursor === undefined ? input : { ...input, cursor }, call)) as Input;
    items.push(...(Object.values(page).find((value) => Array.isArray(value)) ?? []));
    cursor = page['nextCursor'] ?? null;
  }
  return items;
}

async function follow(client: Client, command: Command, input: Input, call: ShortcutCall): Promise<void> {
  const { signal, isJson, print } = call;
  const onStatus = (status: string): void => {
    if (status === 'waiting') process.stderr.write('The connection is lost; trying again …\n');
  };
  const method = methodOf(client, command) as unknown as (input: Input, options: object) => AsyncIterable<object>;
  for await (const event of method(input, { signal, onStatus }))
    print(isJson ? `${plainJson(event)}\n` : `${showEvent(event)}\n`);
}

/** What is already at the path of an output. A path that cannot be a file is refused before the call, which may take long. */
function checkOutput(output: string): Stats | undefined {
  if (!existsSync(dirname(output)))
    throw new UsageProblem(`--output takes a file: there is no folder ${dirname(output)}.`);
  const found = statSync(output, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) throw new UsageProblem(`--output takes a file: ${output} is a folder.`);
  return found;
}

async function download(
  client: Client,
  command: Command,
  input: Input,
  output: string | undefined,
  call: ShortcutCall,
): Promise<void> {
  const isShown = output === undefined || output === '-';
  const found = isShown ? undefined : checkOutput(output);
  const file = (await send(client, command, input, call)) as Download;
  if (isShown && process.stdout.isTTY && !file.mediaType.startsWith('text/'))
    throw new UsageProblem(`A file of ${file.mediaType} is not for a terminal: give --output ${file.filename}.`);
  if (isShown) {
    for await (const piece of file)
      if (!process.stdout.write(piece)) await new Promise((resolve) => process.stdout.once('drain', resolve));
    return;
  }
  // A device such as /dev/null is written to, and not replaced.
  if (found?.isFile() === false) return pipeline(file, createWriteStream(output), { signal: call.signal });
  const unfinished = `${output}.${process.pid}.part`;
  try {
    await pipeline(file, createWriteStream(unfinished, { flags: 'wx' }), { signal: call.signal });
    // A file that broke off never has its name.
    await rename(unfinished, output);
  } finally {
    await rm(unfinished, { force: true });
  }
  process.stderr.write(`${output}\n`);
}
