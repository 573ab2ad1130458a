import type { oas31 } from 'zod-openapi';
import { glossaryOf } from './glossary.ts';

/*
 * Descriptions and examples of JSON schemas, from the schemas and the glossary. `context` is the place of a name: its
 * schema, the field around it, or the section of its operation.
 */

type Schema = oas31.SchemaObject;
type Reference = oas31.ReferenceObject;
export type Schemas = Record<string, Schema | Reference>;

/** Generic descriptions: the glossary has a better one. */
const generic = new Set(['Identifier', 'UTC with milliseconds', 'ISO 8601 with any offset']);

/** The schema with a description at each field, from the field itself or the glossary. */
export function explained<Given extends Schema | Reference>(schema: Given, context: string | undefined): Given {
  if ('$ref' in schema) return schema;
  const { properties, items, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, explainedField(property as Schema, name, context)]),
      ),
    }),
    ...(items && { items: explained(items as Schema, context) }),
    ...(anyOf && { anyOf: anyOf.map((option) => explained(option, context)) }),
    ...(oneOf && { oneOf: oneOf.map((option) => explained(option, context)) }),
  };
}

/** A field or parameter: its own description takes precedence, then the glossary's, then that of its alternatives. */
export function explainedField<Given extends Schema | Reference>(
  field: Given,
  name: string,
  context: string | undefined,
): Given {
  if ('$ref' in field) return field;
  const { description: own, anyOf = [] } = field;
  const inner = anyOf.map((option) => ('description' in option ? option.description : undefined)).find(Boolean);
  const known = glossaryOf(name, context).description;
  const description = own === undefined || (generic.has(own) && known !== undefined) ? (known ?? inner) : own;
  return { ...explained(field, name), ...(description === undefined ? {} : { description }) };
}

/** An example of a schema: its own or the glossary's values, otherwise the simplest ones. */
export function exampleOf(schema: Schema | Reference, schemas: Schemas, context: string | undefined): unknown {
  return make(schema, schemas, undefined, context, []);
}

/** The same for a field or parameter. */
export function exampleOfField(schema: Schema | Reference, name: string, context: string | undefined): unknown {
  return make(schema, {}, name, context, []);
}

function make(
  given: Schema | Reference,
  schemas: Schemas,
  name: string | undefined,
  context: string | undefined,
  within: string[],
): unknown {
  if ('$ref' in given) {
    const id = given.$ref!.split('/').at(-1)!;
    return make(schemas[id]!, schemas, undefined, id, [...within, id]);
  }
  const schema = given;
  const known = name === undefined ? undefined : glossaryOf(name, context).example;
  if (known !== undefined && fits(schema, known)) return known;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined && schema.examples === undefined) return schema.default;
  const [first] = (schema.examples ?? schema.enum ?? []) as unknown[];
  if (first !== undefined) return first;
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return make(options[0]!, schemas, name, context, within);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object':
      return makeObject(schema, schemas, name ?? context, within);
    case 'array': {
      const items = schema.items ?? {};
      // Comments nest: one level is enough.
      const repeats = '$ref' in items && within.includes(items.$ref!.split('/').at(-1)!);
      return repeats ? [] : [make(items, schemas, undefined, name, within)];
    }
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, 0);
    case 'string':
      return 'text';
    default:
      return null;
  }
}

function makeObject(schema: Schema, schemas: Schemas, context: string | undefined, within: string[]): object {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      make(property, schemas, name, context, within),
    ]),
  );
}

/** Whether a value from the glossary is of the type that the schema has here. */
function fits(schema: Schema, value: unknown): boolean {
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return options.some((option) => !('$ref' in option) && fits(option, value));
  if (schema.const !== undefined) return schema.const === value;
  if (schema.enum) return schema.enum.includes(value);
  const types = [schema.type ?? []].flat() as string[];
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const isWhole = type === 'number' && Number.isInteger(value);
  return types.includes(type) || (isWhole && types.includes('integer'));
}
