import type { oas31 } from 'zod-openapi';
import { glossaryOf } from './glossary.ts';

/*
 * Descriptions and examples of JSON schemas, from what they say themselves and from the glossary. `context` is where a name
 * stands: the schema that has it, the field that it is inside of, or the section of an operation.
 */

type Schema = oas31.SchemaObject;
type Reference = oas31.ReferenceObject;
export type Schemas = Record<string, Schema | Reference>;

/** What every identifier or moment says of itself: the glossary knows better what it is one of. */
const generic = new Set(['Identifier', 'UTC with milliseconds']);

/** The same schema with a description at each field that the glossary or the field itself has one for. */
export function explained<Given extends Schema | Reference>(schema: Given, context: string | undefined): Given {
  if ('$ref' in schema) return schema;
  const { properties, items, anyOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, explainedField(property as Schema, name, context)]),
      ),
    }),
    ...(items && { items: explained(items as Schema, context) }),
    ...(anyOf && { anyOf: anyOf.map((option) => explained(option, context)) }),
  };
}

/** A field or parameter: its own words go first, then those of the glossary, then those of what it may be. */
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

/** An example of a schema: the values that it or the glossary gives, and of everything else the plainest. */
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
      // A comment has comments: one level shows it.
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
