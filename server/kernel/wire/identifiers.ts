import { z } from 'zod';

/*
 * What the identifiers of requests and answers name. It stands in a registry beside the schemas, so it reaches neither
 * /openapi.json nor the client.
 */

/**
 * The kinds of things. Both `employee` and `colleague` are people of the company: in examples the first is the caller
 * and the second is not, so that what takes access away takes it from somebody else.
 */
export const kinds = [
  'company',
  'employee',
  'colleague',
  'project',
  'task',
  'taskLog',
  'comment',
  'session',
  'apiKey',
  'notification',
  'invitation',
] as const;
export type Kind = (typeof kinds)[number];

const registry = z.registry<{ kind: Kind }>();

export function ofKind<Schema extends z.ZodType>(kind: Kind, schema: Schema): Schema {
  registry.add(schema, { kind });
  return schema;
}

/** The kind that a schema was given by `idOf`, also inside its wrappers; undefined where it is no identifier. */
export const kindOf = (schema: z.core.$ZodType): Kind | undefined => registry.get(unwrap(schema))?.kind;

/** What a field is inside its optional, nullable and default wrappers. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrap(schema.unwrap());
  return schema;
}

/** A field that names a thing: its own name, and the steps that lead to it, `[]` for every item of a list. */
export type Identifier = { name: string; kind: Kind; steps: string[] };

/** All fields of an input that name things, also inside of lists and objects. */
export function identifiersIn(schema: z.core.$ZodType, name = '', steps: string[] = []): Identifier[] {
  const inner = unwrap(schema);
  const kind = kindOf(inner);
  if (kind !== undefined) return [{ name, kind, steps }];
  if (inner instanceof z.ZodArray) return identifiersIn(inner.element, name, [...steps, '[]']);
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries<z.core.$ZodType>(inner.shape).flatMap(([field, part]) =>
    identifiersIn(part, field, [...steps, field]),
  );
}
