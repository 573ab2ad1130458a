import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { kebabCase, type Field } from './command.ts';
import { suggest } from './nearest.ts';
import { UsageProblem } from './problem.ts';

/** The kinds of things whose names are looked up where an identifier is expected. */
export const namedKinds = ['project', 'task', 'employee', 'colleague'] as const;
export type NamedKind = (typeof namedKinds)[number];

/** A name in place of an identifier, which is looked up before the call. */
export class Name {
  readonly kind: NamedKind;
  readonly text: string;

  constructor(kind: NamedKind, text: string) {
    this.kind = kind;
    this.text = text;
  }
}

/** The value of a flag or operand. */
export async function parseValue(name: string, field: Field, given: string): Promise<unknown> {
  const flag = `--${kebabCase(name)}`;
  switch (field.type) {
    case 'integer':
      return parseInteger(flag, field, given);
    case 'number':
      return parseNumber(flag, given);
    case 'boolean':
      throw new UsageProblem(`${flag} takes no value.`);
    case 'json':
      return parseJson(flag, await readText(flag, given));
    case 'file':
      return readBytes(flag, given);
    case 'textFile':
      return readFileText(flag, given);
    case 'text':
      if (field.values && !field.values.includes(given))
        throw new UsageProblem(`${flag} is one of ${field.values.join(', ')}.${suggest(given, field.values)}`);
      return given;
    default:
      return field.type satisfies never;
  }
}

function parseInteger(flag: string, { kind }: Field, given: string): number | Name {
  if (/^-?\d{1,16}$/.test(given) && Number.isSafeInteger(Number(given))) return Number(given);
  const named = namedKinds.find((one) => one === kind);
  if (named !== undefined && given.trim() !== '') return new Name(named, given.trim());
  throw new UsageProblem(`${flag} is a whole number, not "${given}".`);
}

function parseNumber(flag: string, given: string): number {
  const value = given.trim() === '' ? Number.NaN : Number(given);
  if (!Number.isFinite(value)) throw new UsageProblem(`${flag} is a number, not "${given}".`);
  return value;
}

/** JSON on the command line, in a file (`@file`) or from the standard input (`-`). */
export async function readText(flag: string, given: string): Promise<string> {
  if (given === '-') return readFileText(flag, given);
  return given.startsWith('@') ? readFileText(flag, given.slice(1)) : given;
}

/** The text of a file, or of the standard input (`-`). What is not UTF-8 would lose its letters. */
async function readFileText(flag: string, path: string): Promise<string> {
  const bytes = path === '-' ? await buffer(process.stdin) : await readBytes(flag, path);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageProblem(`${flag} takes text in UTF-8: save it so in the program that it comes from.`);
  }
}

async function readBytes(flag: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageProblem(`${flag} takes a file: ${code === 'ENOENT' ? `there is no ${path}` : message}.`);
  }
}

export function parseJson(flag: string, given: string): unknown {
  try {
    return JSON.parse(given.replace(/^\uFEFF/, '')) as unknown;
  } catch (error) {
    // Its words may quote what is in it.
    const [, place = ''] = /( at position \d+(?: \(line \d+ column \d+\))?)/.exec((error as Error).message) ?? [];
    throw new UsageProblem(`${flag} is no valid JSON${place}.`);
  }
}
