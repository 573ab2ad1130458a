import { kebabCase, type Command, type Field } from './command.ts';
import { canBeNegated, takesValue } from './flags.ts';
import { commands } from './table.ts';
import { shortcuts } from './shortcuts.ts';

/** As wide as the terminal, where that is narrow; long lines are hard to read. */
const widthOfHelp = (): number => Math.min(100, process.stdout.columns || 100);

const usage = `Usage: wms <area> <operation> [<id or name>] [--flag value …]

Every operation of the Work Management Service, from the command line.`;

const ending = `
wms <area> --help               the operations of an area
wms <area> <operation> --help   its flags, and an example
wms --version

Where a flag is a project, a task or an employee, its name does instead of its
number: exactly, without regard to case, or the beginning of it; people have
their address too. Answers are tables; --json is what the service answers.

WMS_URL and WMS_API_KEY override what \`wms login\` has stored; NO_COLOR turns
colours off. Ends with 0 when all is done, 1 after a failure of the service or
the network, 2 when it was called wrongly, 3 when nobody is signed in, 4 when
the service refuses.`;

/** The help of the whole command. */
export function mainHelp(): string {
  const own = Object.entries(shortcuts).map(([name, { summary }]) => [name, summary] as const);
  const areas = [...areasOf()].map(([area, its]) => [area, its.join(', ')] as const);
  return `${usage}\n\nShortcuts:\n${columnsOf(own)}\n\nAreas, with their operations:\n${columnsOf(areas)}\n${ending}\n`;
}

export function areaHelp(area: string): string {
  const its = Object.entries(commands).filter(([words]) => words.startsWith(`${area} `));
  const rows = its.map(([words, { summary }]) => [words, summary] as const);
  return `Usage: wms ${area} <operation> [--flag value …]\n\n${columnsOf(rows)}\n\n\`wms ${area} <operation> --help\` says more of each.\n`;
}

/** The areas, with the names of their operations. */
export function areasOf(): Map<string, string[]> {
  const areas = new Map<string, string[]>();
  for (const words of Object.keys(commands)) {
    const [area, operation] = words.split(' ') as [string, string];
    areas.set(area, [...(areas.get(area) ?? []), operation]);
  }
  return areas;
}

export function commandHelp(words: string, command: Command): string {
  const { summary, description, fields, operands, rest, section } = command;
  const names = operands.map((name) => `<${kebabCase(name)}>`);
  const parts = [
    `Usage: ${['wms', words, ...names, ...(Object.keys(fields).length > operands.length ? ['[--flag value …]'] : [])].join(' ')}`,
    wrap(`${summary}.`),
    ...(description === undefined ? [] : description.split('\n\n').map((paragraph) => wrap(paragraph))),
  ];
  const rows = [...Object.entries(fields).map(([name, field]) => flagRow(name, field)), ...ownRows(command)];
  parts.push(`Flags:\n${columnsOf(rows)}`);
  if (command.example) parts.push(`Example:\n  ${exampleOf(words, command)}`);
  if (rest !== undefined) parts.push(`REST: ${rest} (${section})`);
  return `${parts.join('\n\n')}\n`;
}

function flagRow(name: string, field: Field): readonly [string, string] {
  const flag = `--${kebabCase(name)}`;
  const { values, isList, isRequired, isSecret, fromSession, description } = field;
  const said = [
    ...(isRequired ? ['required'] : []),
    ...(description === undefined ? [] : [description]),
    ...(values ? [`one of ${values.join(', ')}`] : []),
    ...(isList ? ['may be repeated'] : []),
    ...(isSecret ? ['asked for, and never on the command line'] : []),
    ...(fromSession === 'company' ? ['your company unless given'] : []),
    ...(fromSession === 'employee' ? ['you unless given'] : []),
    ...(canBeNegated(field) ? [`--no-${kebabCase(name)} ${field.type === 'boolean' ? 'for no' : 'empties it'}`] : []),
  ];
  return [takesValue(field) ? `${flag} ${placeholderOf(field)}` : flag, said.join('; ')];
}

function placeholderOf({ type, kind, values }: Field): string {
  if (values) return 'WORD';
  if (kind === 'employee' || kind === 'colleague') return 'ID|NAME|ADDRESS';
  if (kind === 'project' || kind === 'task') return 'ID|NAME';
  return { text: 'TEXT', integer: 'N', number: 'N', boolean: '', json: 'JSON', file: 'FILE', textFile: 'FILE' }[type];
}

function ownRows({ pages, does, fields }: Command): (readonly [string, string])[] {
  return [
    ...(pages ? [['--all', 'every page of the list'] as const] : []),
    ...(does === 'download'
      ? [['--output FILE', 'where the file goes; the standard output unless given'] as const]
      : []),
    ...(Object.keys(fields).length > 0
      ? [
          [
            '--input JSON',
            'fields as JSON: the text itself, @FILE, or - for the standard input; flags go before it',
          ] as const,
        ]
      : []),
    ['--json', does === 'subscription' ? 'each event as a line of JSON' : 'the answer as the service gives it'],
  ];
}

/** The example of the definition as a command line; fields with an inner structure as JSON. */
export function exampleOf(words: string, { example = {}, fields, operands }: Command): string {
  const parts = ['wms', words];
  for (const name of operands) if (example[name] !== undefined) parts.push(quote(textOf(example[name])));
  for (const [name, value] of Object.entries(example)) {
    const field = fields[name];
    if (!field || field.fromSession || field.isSecret || operands.includes(name)) continue;
    const flag = `--${kebabCase(name)}`;
    if (value === null) parts.push(`--no-${kebabCase(name)}`);
    else if (field.type === 'boolean') parts.push(value === true ? flag : `--no-${kebabCase(name)}`);
    else if (field.type === 'file' || field.type === 'textFile') parts.push(flag, 'FILE');
    else if (field.isList && (value as unknown[]).length === 0) parts.push(`--no-${kebabCase(name)}`);
    else if (field.isList) for (const one of value as unknown[]) parts.push(flag, quote(textOf(one)));
    else parts.push(flag, quote(textOf(value)));
  }
  return parts.join(' ');
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** Two columns, the second broken between words. */
function columnsOf(rows: readonly (readonly [string, string])[]): string {
  const first = Math.min(28, Math.max(...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) => {
      const lines = wrap(right, widthOfHelp() - first - 4).split('\n');
      const head =
        left.length > first && right !== '' ? `  ${left}\n${' '.repeat(first + 4)}` : `  ${left.padEnd(first)}  `;
      return (head + lines.join(`\n${' '.repeat(first + 4)}`)).trimEnd();
    })
    .join('\n');
}

function wrap(text: string, max = widthOfHelp()): string {
  return text
    .split('\n')
    .map((line) => {
      const lines = [''];
      for (const word of line.split(' ')) {
        const last = lines.at(-1)!;
        if (last !== '' && last.length + 1 + word.length > max) lines.push(word);
        else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
      }
      return lines.join('\n');
    })
    .join('\n');
}
