import { kebabCase, ownFlags, type Command, type Field } from '../command/command.ts';
import type { Procedure } from './operations.ts';
import type { Schema } from './types.ts';

const head = '// Made by `npm run generate` from the definitions of the operations; do not edit.\n';

/** The table of the command: each operation, and each file, by the words that call it. */
export function commandTableOf(procedures: Procedure[]): string {
  const entries = procedures.flatMap((procedure) => [commandOf(procedure), ...filesOf(procedure)]);
  const lines = entries.map((command) => `  '${wordsOf(command.operation)}': ${literal(command)},`);
  return `${head}import type { Command } from './command.ts';

export const commands: Record<string, Command> = {\n${lines.join('\n')}\n};\n`;
}

/** The page of the command with its list of all operations, by area. */
export function pageWithCommands(page: string, procedures: Procedure[]): string {
  const commands = procedures.flatMap((procedure) => [commandOf(procedure), ...filesOf(procedure)]);
  const names = commands.map(({ operation }) => wordsOf(operation).split(' ') as [string, string]);
  const areas = Map.groupBy(names, ([area]) => area);
  const rows = [...areas].map(([area, its]) => `| ${area} | ${its.map(([, name]) => name).join(', ')} |\n`);
  const list = /(?<=^\| Area \| Operations \|\n\|---\|---\|\n)(?:\|.*\n)*/m;
  if (!list.test(page)) throw new Error('the page of the command has no list of operations');
  return page.replace(list, rows.join(''));
}

/** A terminal shows an address as it is. */
const markdownLinks = /\[([^\]]+)\]\(([^)]+)\)/g;

const wordsOf = (operation: string): string => operation.split('.').map(kebabCase).join(' ');

/** One field a line: what changes is seen in the history. */
function literal({ fields, ...command }: Command): string {
  const lines = Object.entries(fields).map(
    ([name, field]) => `      ${JSON.stringify(name)}: ${JSON.stringify(field)},`,
  );
  const its = Object.entries(command).map(([name, value]) => `    ${name}: ${JSON.stringify(value)},`);
  return `{\n${its.join('\n')}\n    fields: {${lines.length === 0 ? '' : `\n${lines.join('\n')}\n    `}},\n  }`;
}

function commandOf(procedure: Procedure): Command {
  const { name, kind, meta, input, output } = procedure;
  const { openapi, events } = meta;
  const { summary = '', description } = openapi ?? events ?? {};
  const fields = fieldsOf(procedure);
  const pages = pagesOf(input, output);
  return {
    operation: name,
    does: kind,
    ...(meta.access === 'open' && { isOpen: true as const }),
    ...(pages && { pages }),
    section: meta.section ?? 'Events',
    ...(openapi && { rest: `${openapi.method} ${openapi.path}` }),
    summary,
    ...(description !== undefined && { description: description.replaceAll(markdownLinks, '$1 at $2') }),
    ...(meta.example && { example: meta.example }),
    operands: operandsOf(procedure, fields),
    fields,
  };
}

function filesOf(procedure: Procedure): Command[] {
  const [area] = procedure.name.split('.');
  const { example: _, ...command } = commandOf(procedure);
  return procedure.downloads.map(({ format, mediaType }) => ({
    ...command,
    operation: `${area}.${format}`,
    does: 'download',
    summary: `The same as \`wms ${wordsOf(procedure.name)}\`, as a file`,
    description: `Its media type is ${mediaType}. \`wms ${wordsOf(procedure.name)} --help\` says what is in it.`,
  }));
}

function pagesOf(input: Schema | undefined, output: Schema): Command['pages'] {
  const takes = input?.properties ?? {};
  const answers = output.properties ?? {};
  if ('page' in takes && 'totalPages' in answers) return 'page';
  return 'cursor' in takes && 'nextCursor' in answers ? 'cursor' : undefined;
}

/** The identifiers of the path, in its order; of a stream what it must be told. */
function operandsOf({ meta, input, fromSession }: Procedure, fields: Command['fields']): string[] {
  const { openapi } = meta;
  const names = openapi ? [...openapi.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!) : (input?.required ?? []);
  return names.filter((name) => name in fields && !fromSession.has(name));
}

function fieldsOf({ name, input, fromSession, kinds }: Procedure): Command['fields'] {
  const { properties = {}, required = [] } = input ? resolve(input, input) : {};
  const fields = Object.entries(properties)
    // Only the client uses it.
    .filter(([field]) => field !== 'lastEventId')
    .map(([field, schema]): [string, Field] => {
      const kind = kinds.get(field);
      const source = fromSession.get(field);
      return [
        field,
        {
          ...shapeOf(schema, input!),
          ...(required.includes(field) && !source && { isRequired: true }),
          ...(isSecret(field) && { isSecret: true }),
          ...(source && { fromSession: source }),
          ...(kind !== undefined && { kind }),
          ...describe(schema),
        },
      ];
    });
  const flags = fields.map(([field]) => kebabCase(field));
  const twice = flags.find((flag, at) => flags.indexOf(flag) !== at || ownFlags.some((own) => own === flag));
  if (twice !== undefined) throw new Error(`${name}: --${twice} would mean two things to the command`);
  return Object.fromEntries(fields);
}

/** Passwords, codes and tokens. A test lists them, so that a new one is looked at. */
const isSecret = (field: string): boolean => /password$|^otp$|token$/.test(field);

function describe(schema: Schema): Pick<Field, 'description'> {
  const said = [schema, ...(schema.anyOf ?? [])].find(({ description }) => description !== undefined)?.description;
  const { default: preset } = schema;
  const text = [
    ...(said === undefined || said === 'Identifier' ? [] : [said]),
    ...(isOf(schema, 'date') ? ['YYYY-MM-DD'] : []),
    ...(preset === undefined ? [] : [`${typeof preset === 'string' ? preset : JSON.stringify(preset)} unless given`]),
  ].join('; ');
  return text === '' ? {} : { description: text };
}

const isOf = (schema: Schema, format: string): boolean =>
  [schema, ...(schema.anyOf ?? [])].some((one) => one.format === format);

type Shape = Pick<Field, 'type' | 'isList' | 'isNullable' | 'values'>;

function shapeOf(schema: Schema, root: Schema): Shape {
  const own = resolve(schema, root);
  const choices = own.anyOf ?? own.oneOf;
  if (choices) {
    const rest = choices.filter(({ type }) => type !== 'null');
    const isNullable = rest.length < choices.length ? { isNullable: true as const } : {};
    return { ...(rest.length === 1 ? shapeOf(rest[0]!, root) : { type: 'json' as const }), ...isNullable };
  }
  if (Array.isArray(own.type)) {
    const [type, ...more] = own.type.filter((one) => one !== 'null');
    const isNullable = own.type.includes('null') ? { isNullable: true as const } : {};
    return {
      ...(more.length === 0 ? shapeOf({ ...own, type: type! }, root) : { type: 'json' as const }),
      ...isNullable,
    };
  }
  const values = own.enum ?? ('const' in own ? [own.const] : undefined);
  if (values?.every((value) => typeof value === 'string')) return { type: 'text', values };
  if (own.type === 'array') {
    const item = shapeOf(own.items ?? {}, root);
    return item.type === 'json' || item.isList || item.isNullable ? { type: 'json' } : { ...item, isList: true };
  }
  return { type: simpleTypeOf(own) };
}

function simpleTypeOf({ type, contentEncoding, contentMediaType }: Schema): Field['type'] {
  if (type === 'string' && contentEncoding === 'base64') return 'file';
  if (type === 'string' && contentMediaType !== undefined) return 'textFile';
  if (type === 'string') return 'text';
  return type === 'integer' || type === 'number' || type === 'boolean' ? type : 'json';
}

function resolve(schema: Schema, root: Schema): Schema {
  const { $ref } = schema;
  return $ref === undefined ? schema : (root.$defs?.[$ref.replace('#/$defs/', '')] ?? schema);
}
