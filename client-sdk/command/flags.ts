import { parseArgs, type ParseArgsConfig } from 'node:util';
import { kebabCase, type Command, type Field } from './command.ts';
import { suggest } from './nearest.ts';
import { UsageProblem } from './problem.ts';

export type Flags = NonNullable<ParseArgsConfig['options']>;
export type FlagValues = Record<string, string | boolean | (string | boolean)[] | undefined>;
export type Parsed = { values: FlagValues; operands: string[] };

/** Reads a command line by its flags. Of what is wrong with it the flag is named, never a value: that may be a secret. */
export function parseFlags(parameters: string[], flags: Flags): Parsed {
  try {
    const { values, positionals } = parseArgs({ args: parameters, options: flags, allowPositionals: true });
    return { values, operands: positionals };
  } catch (error) {
    throw new UsageProblem(sentenceOf(error as NodeJS.ErrnoException, flags));
  }
}

function sentenceOf({ code, message }: NodeJS.ErrnoException, flags: Flags): string {
  const [, flag = ''] = /'(?:-\w, )?(-[^' =]*)/.exec(message) ?? [];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const known = Object.keys(flags).map((name) => `--${name}`);
    return `There is no flag ${flag}.${suggest(flag, known)}`;
  }
  if (/does not take an argument/.test(message)) {
    const opposite = flag.replace('--', '--no-');
    return `${flag} takes no value${opposite.slice(2) in flags ? `: it is yes, and ${opposite} is no` : ''}.`;
  }
  if (/ambiguous/.test(message)) return `${flag} needs a value; one that begins with a dash is written ${flag}=-5.`;
  return `${flag} needs a value.`;
}

/** The flags of an operation: one for each field, and `--no-…` for what can be false or empty. */
export function flagsOf({ does, pages, fields }: Command): Flags {
  const own: Flags = { help: { type: 'boolean', short: 'h' }, json: { type: 'boolean' } };
  if (pages) own['all'] = { type: 'boolean' };
  if (does === 'download') own['output'] = { type: 'string' };
  if (Object.keys(fields).length > 0) own['input'] = { type: 'string' };
  for (const [name, field] of Object.entries(fields)) {
    const flag = kebabCase(name);
    own[flag] = { type: takesValue(field) ? 'string' : 'boolean', multiple: field.isList === true };
    if (canBeNegated(field)) own[`no-${flag}`] = { type: 'boolean' };
  }
  return own;
}

export const takesValue = ({ type, isSecret }: Field): boolean => type !== 'boolean' && !isSecret;

/** `--no-billable` is false, `--no-due-date` makes a field empty, `--no-collaborator-ids` a list. */
export const canBeNegated = ({ type, isNullable, isList, isSecret }: Field): boolean =>
  (type === 'boolean' || isNullable === true || isList === true) && !isSecret;
