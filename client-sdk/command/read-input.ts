import { kebabCase, type Command, type Field } from './command.ts';
import { canBeNegated, takesValue, type Parsed } from './flags.ts';
import { parseJson, parseValue, readText } from './parse-value.ts';
import { UsageProblem } from './problem.ts';

export type Input = Record<string, unknown>;

/** Asks for the value of a field that must not be seen. */
export type AskSecret = (field: string) => Promise<string>;

/**
 * The input of an operation: the JSON of `--input`, over it the operands and the flags. It may still have names in it.
 * `words` are those of the command, for what is said.
 */
export async function readInput(
  words: string,
  { fields, operands: names }: Command,
  { values, operands }: Parsed,
  askSecret: AskSecret,
): Promise<Input> {
  const input = await readWhole(values['input']);
  refuseSecrets(fields, input, values['input']);
  if (operands.length > names.length)
    throw new UsageProblem(
      `"${operands[names.length]}" is too much: \`wms ${words}\` takes ${names.length === 0 ? 'flags only' : `${names.map((name) => `<${kebabCase(name)}>`).join(' ')} and flags`}. \`wms ${words} --help\` lists them.`,
    );
  for (const [at, given] of operands.entries()) {
    const name = names[at]!;
    input[name] = await parseValue(name, fields[name]!, given);
  }
  for (const [name, field] of Object.entries(fields)) {
    const flag = kebabCase(name);
    const given = values[flag];
    if (canBeNegated(field) && values[`no-${flag}`] === true) {
      if (given !== undefined) throw new UsageProblem(`--${flag} and --no-${flag} contradict each other.`);
      input[name] = emptyOf(field);
    } else if (given !== undefined && takesValue(field)) input[name] = await readFlag(name, field, given);
    else if (given === true && !field.isSecret) input[name] = true;
  }
  refuseIfIncomplete(words, fields, input);
  for (const [name, field] of Object.entries(fields)) {
    const isWanted = field.isRequired === true || values[kebabCase(name)] === true;
    if (field.isSecret && isWanted && input[name] === undefined) input[name] = await askSecret(name);
  }
  return input;
}

/** Other people of the machine can read a command line. */
function refuseSecrets(fields: Command['fields'], input: Input, given: unknown): void {
  if (given === '-' || (typeof given === 'string' && given.startsWith('@'))) return;
  const secret = Object.keys(input).find((name) => fields[name]?.isSecret);
  if (secret !== undefined)
    throw new UsageProblem(
      `${secret} must not be on the command line: leave it out and it is asked for, or use --input @FILE.`,
    );
}

function emptyOf({ type, isList }: Field): unknown {
  if (isList) return [];
  return type === 'boolean' ? false : null;
}

async function readWhole(given: unknown): Promise<Input> {
  if (typeof given !== 'string') return {};
  const value = parseJson('--input', await readText('--input', given));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageProblem('--input is a JSON object with the fields of the input.');
  return { ...value };
}

async function readFlag(name: string, field: Field, given: unknown): Promise<unknown> {
  if (!Array.isArray(given)) return parseValue(name, field, String(given));
  const values: unknown[] = [];
  for (const one of given) values.push(await parseValue(name, field, String(one)));
  return values;
}

function refuseIfIncomplete(words: string, fields: Command['fields'], input: Input): void {
  const missing = Object.entries(fields)
    .filter(([name, { isRequired, isSecret }]) => isRequired && !isSecret && input[name] === undefined)
    .map(([name]) => `--${kebabCase(name)}`);
  if (missing.length > 0)
    throw new UsageProblem(`\`wms ${words}\` needs ${missing.join(', ')}. \`wms ${words} --help\` says what that is.`);
}
