/* Converts JSON Schema, as Zod writes it, to readable TypeScript: named types with descriptions. */

export type Schema = {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  description?: string;
  default?: unknown;
  format?: string;
  contentEncoding?: string;
  contentMediaType?: string;
  examples?: unknown[];
};

const lineMax = 100;

/** `comments.onTask` and `comment.created` as names of types. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A comment that documents the next line. */
export function docOf(text: string | undefined, indent: string): string {
  if (text === undefined || text === '') return '';
  const lines = text.replaceAll('*/', '*\\/').split('\n').flatMap(wrap);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** Breaks a long line between words. */
function wrap(line: string): string[] {
  const lines = [''];
  for (const word of line.split(' ')) {
    const last = lines.at(-1)!;
    if (last !== '' && last.length + 1 + word.length > lineMax) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  // Indented lines are code.
  return line.startsWith(' ') ? [line] : lines;
}

export function typeOf(schema: Schema, indent = ''): string {
  const { $ref, type } = schema;
  if ($ref !== undefined) return pascalCase($ref.replace('#/$defs/', ''));
  if ('const' in schema) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return unionOf(choices.map((choice) => typeOf(choice, indent)));
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(' | ');
  switch (type) {
    case 'string':
      return schema.contentEncoding === 'base64' ? 'Upload' : type;
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayOf(typeOf(schema.items ?? {}, indent));
    case 'object':
      return objectOf(schema, indent);
    default:
      throw new Error(`there is no TypeScript for ${JSON.stringify(schema)}`);
  }
}

/** Each once; `string` absorbs string literals. */
function unionOf(types: string[]): string {
  const isAnyText = types.flatMap((type) => type.split(' | ')).includes('string');
  return [...new Set(types.filter((type) => !isAnyText || !/^'[^']*'$/.test(type)))].join(' | ');
}

/** The members of an object in braces: on one line if they are short and have no description. */
export function objectOf(schema: Schema, indent = '', max = lineMax): string {
  const { properties = {}, required = [] } = schema;
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, property]) => ({
    doc: docOf(describe(property), inner),
    line: `${name}${required.includes(name) ? '' : '?'}: ${typeOf(property, inner)}`,
  }));
  const short = `{ ${members.map(({ line }) => line).join('; ')} }`;
  if (members.every(({ doc }) => doc === '') && short.length + indent.length <= max && !short.includes('\n'))
    return short;
  return `{\n${members.map(({ doc, line }) => `${doc}${inner}${line};`).join('\n')}\n${indent}}`;
}

/** The description of a field; that of an optional one may be inside. */
function describe(schema: Schema): string | undefined {
  const parts = [schema, ...(schema.anyOf ?? [])];
  const said = parts.find(({ description }) => description !== undefined)?.description;
  const day = parts.some(({ format }) => format === 'date') ? 'YYYY-MM-DD' : undefined;
  // It repeats the name.
  const text = said === 'Identifier' ? undefined : (said ?? day);
  const preset = schema.default;
  if (preset === undefined) return text;
  const unless = `\`${typeof preset === 'string' ? preset : JSON.stringify(preset)}\` unless sent`;
  return text === undefined ? unless : `${text}; ${unless}`;
}

function arrayOf(item: string): string {
  return /^[\w.]+$/.test(item) || (item.startsWith('{') && item.endsWith('}') && !item.includes(' | {'))
    ? `${item}[]`
    : `(${item})[]`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
