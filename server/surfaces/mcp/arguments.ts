import { z } from 'zod';
import { identifiersIn, isOwnId, unwrap, type Kind } from '../../kernel/wire/identifiers.ts';

/** An argument of a tool, and the field of the operation's input that it becomes. */
export type Argument = {
  name: string;
  field: string;
  schema: z.core.$ZodType;
  /** What agents are told of it instead of what its schema says. */
  description?: string;
  kind: Kind | undefined;
  isRequired: boolean;
  /** Without it the caller's own identifier is sent. */
  isOwn: boolean;
};

/** The kinds of things that may be given by name. */
const namedKinds = ['project', 'task', 'employee', 'colleague'] as const;
export type NamedKind = (typeof namedKinds)[number];
export const isNamed = (kind: Kind | undefined): kind is NamedKind => (namedKinds as readonly unknown[]).includes(kind);

/** The interface spells an identifier in several ways; arguments have one name for each kind. */
const idNames: Partial<Record<Kind, string>> = { employee: 'employee_id', task: 'task_id', taskLog: 'log_id' };
const spellings = new Set(['pk', 'user_id', 'task_log_id']);

/** Fields of answers that arguments call otherwise. */
const answerNames: Readonly<Record<string, string>> = {
  _id: 'id',
  userId: idNames.employee!,
  user_id: idNames.employee!,
};
export const shownName = (field: string): string => answerNames[field] ?? snakeCase(field);

export const snakeCase = (name: string): string =>
  name.replaceAll(/(?<=[a-z\d])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

export function toArgument(field: string, schema: z.core.$ZodType): Argument {
  const [identifier] = identifiersIn(schema);
  const written = snakeCase(field);
  const isOwn = isOwnId(schema);
  const name = spellings.has(written) ? (idNames[identifier!.kind] ?? written) : written;
  const isRequired =
    !isOwn && !(schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) && !isDefaulted(schema);
  return { name, field, schema, kind: identifier?.kind, isRequired, isOwn };
}

const isDefaulted = (schema: z.core.$ZodType): boolean => z.safeParse(schema, undefined).success;

export const takesNull = (schema: z.core.$ZodType): boolean => z.safeParse(schema, null).success;

/** Whether it is a list of identifiers. */
export const isList = (schema: z.core.$ZodType): boolean => unwrap(schema) instanceof z.ZodArray;

export type JsonSchema = Record<string, unknown>;

/** Its JSON Schema, with what agents need: the operation checks the rest, and says what is wrong. */
export function argumentSchema(
  { schema, description, kind }: Argument,
  { takesNames }: { takesNames: boolean },
): JsonSchema {
  const told = brief(z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' }));
  const whole = description === undefined ? told : { ...told, description };
  if (kind === undefined) return whole;
  const id = takesNames && isNamed(kind) ? { type: ['integer', 'string'] } : { type: 'integer' };
  const described = typeof whole['description'] === 'string' ? { description: whole['description'] } : {};
  return isList(schema) ? { type: 'array', items: id, ...described } : { ...id, ...described };
}

const keptFormats = new Set(['date', 'date-time', 'email']);

function brief(schema: JsonSchema): JsonSchema {
  const { type, format, description, properties, required, items, anyOf } = schema;
  const described = typeof description === 'string' && description !== 'Identifier' ? { description } : {};
  if (Array.isArray(anyOf)) {
    const parts = (anyOf as JsonSchema[]).map(brief);
    const [only, ...others] = parts.filter((part) => part['type'] !== 'null');
    if (others.length > 0 || !only) return { anyOf: parts, ...described };
    return { ...only, ...described, type: [only['type'], 'null'] };
  }
  return {
    type,
    enum: schema['enum'],
    format: keptFormats.has(format as string) ? format : undefined,
    properties: properties && mapValues(properties as Record<string, JsonSchema>, brief),
    required,
    items: items && brief(items as JsonSchema),
    ...described,
  };
}

const mapValues = <From, To>(record: Record<string, From>, map: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
