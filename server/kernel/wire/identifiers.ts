import { z } from 'zod';

/*
 * The kinds of identifiers in requests and answers. They are in a registry next to the schemas, so they reach neither
 * /openapi.json nor the client.
 */

/**
 * The kinds of things. Both `employee` and `colleague` are employees of the company: in examples the first is the
 * caller and the second is not, so that an operation that removes access is tried on somebody else.
 */
export const kinds = [
  'company',
  'employee',
  'colleague',
  'project',
  'task',
  'taskLog',
  'rate',
  'period',
  'comment',
  'session',
  'apiKey',
  'notification',
  'invitation',
  'webhook',
  'webhookDelivery',
  'export',
] as const;
export type Kind = (typeof kinds)[number];

type About = { kind: Kind; isOwn?: boolean };

const registry = z.registry<About>();

export function ofKind<Schema extends z.ZodType>(about: About, schema: Schema): Schema {
  registry.add(schema, about);
  return schema;
}

/** The kind that `idOf` gave to a schema, also inside its wrappers; undefined if it is no identifier. */
export const kindOf = (schema: z.core.$ZodType): Kind | undefined => registry.get(unwrap(schema))?.kind;

/** Whether `ownId` made a schema. */
export const isOwnId = (schema: z.core.$ZodType): boolean => registry.get(schema)?.isOwn === true;

/** The schema inside optional, nullable and default wrappers. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrap(schema.unwrap());
  return schema;
}

/** A field with an identifier: its name, and the path to it, with `[]` for every item of a list. */
export type Identifier = { name: string; kind: Kind; steps: string[] };

/** All identifiers in an input, also inside lists and objects. */
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
