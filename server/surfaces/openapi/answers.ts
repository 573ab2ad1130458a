import type { oas31 } from 'zod-openapi';
import { successHeadersOf } from './headers.ts';
import type { Operation } from '../../kernel/operations.ts';
import { mediaTypes, type FileFormat } from '../../kernel/wire/download.ts';
import { exampleOf, explained, type Schemas } from './schema-descriptions.ts';

/* The success of an operation in the OpenAPI document: its shape, its headers and an example of it. */

export function successOf(
  operation: Operation,
  generated: oas31.ResponseObject,
  schemas: Schemas,
): oas31.ResponseObject {
  const { name, files } = operation;
  const formats = Object.entries(files).map(
    ([format, example]) => [mediaTypes[format as FileFormat], example] as const,
  );
  const types = formats.map(([type]) => type);
  const section = name.split('.')[0];
  const schema = explained(generated.content!['application/json']!.schema!, section);
  const json = { schema, ...examplesOf(schema, schemas, section) };
  return {
    description: `Done${sayShape(schema)}${types.length > 0 ? `, or the same as a file (${types.join(', ')})` : ''}.`,
    headers: successHeadersOf(operation),
    content: {
      'application/json': json,
      ...Object.fromEntries(formats.map(([type, example]) => [type, fileOf(example)])),
    },
  };
}

const fileOf = (example: string | null): oas31.MediaTypeObject =>
  example === null ? { schema: { type: 'string', format: 'binary' } } : { schema: { type: 'string' }, example };

const idOf = (schema: oas31.SchemaObject | oas31.ReferenceObject): string | undefined => schema.$ref?.split('/').at(-1);

/** The record that the answer is, or its fields. */
function sayShape(schema: oas31.SchemaObject | oas31.ReferenceObject): string {
  const id = idOf(schema);
  if (id !== undefined) return `: \`${id}\``;
  const { properties = {}, anyOf } = schema as oas31.SchemaObject;
  if (anyOf) return `: ${anyOf.map((option) => sayShape(option).slice(2)).join(' or ')}`;
  const fields = Object.keys(properties);
  return fields.join() === 'success' ? '' : `: \`{${fields.join(', ')}}\``;
}

/** One example, or one for each record that the answer may be. */
function examplesOf(
  schema: oas31.SchemaObject | oas31.ReferenceObject,
  schemas: Schemas,
  section: string | undefined,
): Pick<oas31.MediaTypeObject, 'example' | 'examples'> {
  const { anyOf } = schema as oas31.SchemaObject;
  if (!anyOf) return { example: exampleOf(schema, schemas, section) };
  return {
    examples: Object.fromEntries(
      anyOf.map((option, index) => [
        idOf(option) ?? `option${index + 1}`,
        { value: exampleOf(option, schemas, section) },
      ]),
    ),
  };
}
