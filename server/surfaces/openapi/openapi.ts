import { definitionOf, proceduresOf } from '../../kernel/definitions.ts';
import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument, type OpenApiRouter } from 'trpc-to-openapi';
import type { oas31 } from 'zod-openapi';
import { errorsOf } from '../../kernel/declared.ts';
import type { ErrorDefinition } from '../../errors/api-error.ts';
import { honoursIdempotencyKey } from '../../kernel/operation.ts';
import { about, legal, tags } from './about.ts';
import { successOf } from './answers.ts';
import { anyPathResponses, components, responseOf, securityOf } from './components.ts';
import { sampleOf } from './samples.ts';
import { keysInWords } from './scopes.ts';
import { withoutUnused } from './unused.ts';
import { operationsOf, type Operation } from '../../kernel/operations.ts';
import { exampleOfField, explained, explainedField, type Schemas } from './schema-descriptions.ts';

/**
 * The OpenAPI document. trpc-to-openapi converts the schemas of an operation into parameters, body and answer. The pass
 * below puts them under the documented path, and adds what the generator does not support: bodies that are arrays or
 * belong to a DELETE, the declared errors, the token pair, headers and examples.
 */
export function createDocument(router: AnyTRPCRouter, publicUrl: string): oas31.OpenAPIObject {
  const operations = operationsOf(router);
  const generated = generateOpenApiDocument(asGenerated(router, operations), {
    title: 'Work Management Service',
    version: '2.0.0',
    description: about(publicUrl),
    baseUrl: publicUrl,
  });
  const schemas: Schemas = Object.fromEntries(
    Object.entries(generated.components?.schemas ?? {})
      .filter(([name]) => !name.startsWith('error.'))
      .map(([name, schema]) => [name, explained(schema, name)]),
  );

  const paths: oas31.PathsObject = {};
  for (const operation of operations) {
    const { get, post } = generated.paths![nicknameOf(operation)]!;
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase() as 'get'] = finish(operation, (get ?? post)!, schemas);
  }
  const responses = shareErrors(operations, paths);
  return withoutUnused(
    tidy({
      ...generated,
      info: { ...generated.info, ...legal(publicUrl) },
      tags: tags.filter(({ name }) => operations.some(({ meta }) => meta.section === name)),
      paths,
      components: components(schemas, responses),
      'x-any-path': { responses: anyPathResponses() },
    }),
  );
}

/** A unique path that the generator does not shorten. */
function nicknameOf({ name, pathParameters }: Operation): string {
  return ['', name, ...pathParameters.map((parameter) => `{${parameter}}`)].join('/');
}

/**
 * The router for the generator: every operation that may have a body is a POST, because the generator gives a DELETE
 * none.
 */
function asGenerated(router: AnyTRPCRouter, operations: Operation[]): OpenApiRouter {
  const procedures = proceduresOf(router);
  const shown = operations.map((operation) => {
    const { summary, description, tags: sections } = operation.meta.openapi!;
    const openapi = {
      method: operation.method === 'GET' ? 'GET' : 'POST',
      path: nicknameOf(operation),
      summary,
      description,
      tags: sections,
    };
    return [
      operation.name,
      { _def: { ...definitionOf(procedures.get(operation.name)!), output: operation.output, meta: { openapi } } },
    ];
  });
  return { _def: { procedures: Object.fromEntries(shown) } } as unknown as OpenApiRouter;
}

function finish(operation: Operation, generated: oas31.OperationObject, schemas: Schemas): oas31.OperationObject {
  const { meta, name } = operation;
  const [section] = name.split('.');
  const byStatus = Map.groupBy(errorsOf(meta), (definition: ErrorDefinition) => definition.status);
  const body = bodyOf(operation, generated.requestBody as oas31.RequestBodyObject | undefined);
  return {
    operationId: name,
    summary: generated.summary,
    description: [generated.description, keysInWords(meta, operation.type)].filter(Boolean).join('\n\n'),
    tags: generated.tags,
    security: securityOf(operation),
    parameters: [
      ...(generated.parameters ?? []).map((parameter) =>
        finishParameter(parameter as oas31.ParameterObject, section, meta.example ?? {}),
      ),
      ...(honoursIdempotencyKey(meta) ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
    ],
    ...(body ? { requestBody: body } : {}),
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: sampleOf(operation) }],
    responses: {
      200: successOf(operation, generated.responses!['200'] as oas31.ResponseObject, schemas),
      ...Object.fromEntries([...byStatus].map(([status, definitions]) => [status, responseOf(definitions, meta)])),
    },
  };
}

/** Moves errors to the components, each once under its status and codes, and inserts references. */
function shareErrors(operations: Operation[], paths: oas31.PathsObject): oas31.ResponsesObject {
  const shared: oas31.ResponsesObject = {};
  for (const { path, method, meta } of operations) {
    const { responses } = paths[path]![method.toLowerCase() as 'get']!;
    const byStatus = Map.groupBy(errorsOf(meta), (definition) => definition.status);
    for (const [status, definitions] of byStatus) {
      const name = [status, ...definitions.map(({ code }) => code), ...(meta.access === 'open' ? ['open'] : [])].join(
        '.',
      );
      shared[name as `${number}`] = responses![`${status}` as '400']!;
      responses![`${status}` as '400'] = { $ref: `#/components/responses/${name}` };
    }
  }
  return shared;
}

function finishParameter(
  { schema, ...parameter }: oas31.ParameterObject,
  section: string | undefined,
  example: Record<string, unknown>,
): oas31.ParameterObject {
  const { name } = parameter;
  const field = explainedField(schema as oas31.SchemaObject, name, section);
  const { description = '', ...shape } = field;
  const isFlag = parameter.in === 'query' && field.type === 'boolean';
  return {
    ...parameter,
    description,
    schema: isFlag ? { ...shape, enum: [true, false] } : shape,
    example: example[name] ?? exampleOfField(shape, name, section),
  };
}

function bodyOf(
  { name, meta, method, pathParameters }: Operation,
  body: oas31.RequestBodyObject | undefined,
): oas31.RequestBodyObject | undefined {
  const generated = body?.content['application/json']?.schema as oas31.SchemaObject | undefined;
  if (!generated) return undefined;
  const schema = explained(generated, name.split('.')[0]);
  const { bodyField, example } = meta;
  const whole = Object.entries(example ?? {}).filter(([field]) => !pathParameters.includes(field));
  return {
    required: bodyField !== undefined || method === 'PUT' || method === 'PATCH' || (schema.required ?? []).length > 0,
    content: {
      'application/json': {
        schema: bodyField === undefined ? schema : schema.properties![bodyField]!,
        ...(example ? { example: bodyField === undefined ? Object.fromEntries(whole) : example[bodyField] } : {}),
      },
    },
  };
}

/**
 * Removes a lower bound that only states the range of a JSON number; the upper one tells generators that a plain number
 * is enough. Positive integers are written as from 1.
 */
function tidy<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(tidy) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const { minimum, maximum, exclusiveMinimum, ...others } = value as Record<string, unknown>;
  const entries = Object.entries(others).map(([key, part]) => [key, tidy(part)]);
  if (others['type'] !== 'integer') {
    const bounds = Object.entries({ minimum, maximum, exclusiveMinimum }).filter(([, bound]) => bound !== undefined);
    return Object.fromEntries([...entries, ...bounds]) as Value;
  }
  const from = exclusiveMinimum === 0 ? 1 : minimum;
  return Object.fromEntries([
    ...entries,
    ...(from === undefined || from === Number.MIN_SAFE_INTEGER ? [] : [['minimum', from]]),
    ...(maximum === undefined ? [] : [['maximum', maximum]]),
  ]) as Value;
}
