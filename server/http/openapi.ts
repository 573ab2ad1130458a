import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument, type OpenApiRouter } from 'trpc-to-openapi';
import type { oas31 } from 'zod-openapi';
import { faultsOf } from '../kernel/declared.ts';
import type { Fault } from '../kernel/fault.ts';
import { about, tags } from './openapi-about.ts';
import { components, responseOf, securityOf } from './openapi-components.ts';
import { successHeadersOf } from './openapi-headers.ts';
import { sampleOf } from './openapi-samples.ts';
import { operationsOf, type Operation } from './operations.ts';

/**
 * The OpenAPI document. trpc-to-openapi turns the schemas of an operation into parameters, body and answer; the pass
 * below puts them under the documented path, and adds what the generator has no words for: bodies that are arrays or
 * belong to a DELETE, the refusals that the operation declares, the token pair, headers and examples.
 */
export function createDocument(router: AnyTRPCRouter, publicUrl: string): oas31.OpenAPIObject {
  const operations = operationsOf(router);
  const generated = generateOpenApiDocument(asGenerated(router, operations), {
    title: 'Work Management Service',
    version: '2.0.0',
    description: about(publicUrl),
    baseUrl: publicUrl,
  });

  const paths: oas31.PathsObject = {};
  for (const operation of operations) {
    const { get, post } = generated.paths![nicknameOf(operation)]!;
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase() as 'get'] = finish(operation, (get ?? post)!);
  }
  const responses = shareRefusals(operations, paths);
  const schemas = Object.entries(generated.components?.schemas ?? {}).filter(([name]) => !name.startsWith('error.'));
  return tidy({
    ...generated,
    tags: tags.filter(({ name }) => operations.some(({ meta }) => meta.section === name)),
    paths,
    components: components(Object.fromEntries(schemas) as oas31.SchemasObject, responses),
  });
}

/** A path that the generator neither shortens nor takes for another one's. */
function nicknameOf({ name, pathParameters }: Operation): string {
  return ['', name, ...pathParameters.map((parameter) => `{${parameter}}`)].join('/');
}

/** The router as the generator is shown it: whatever may have a body is a POST, since it gives a DELETE none. */
function asGenerated(router: AnyTRPCRouter, operations: Operation[]): OpenApiRouter {
  const procedures = router._def.procedures as Record<string, { _def: object }>;
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
      { _def: { ...procedures[operation.name]!._def, output: operation.output, meta: { openapi } } },
    ];
  });
  return { _def: { procedures: Object.fromEntries(shown) } } as unknown as OpenApiRouter;
}

function finish(operation: Operation, generated: oas31.OperationObject): oas31.OperationObject {
  const { meta, method, name } = operation;
  const isWrite = method !== 'GET';
  const byStatus = Map.groupBy(faultsOf(meta), (fault: Fault) => fault.status);
  const body = bodyOf(operation, generated.requestBody as oas31.RequestBodyObject | undefined);
  return {
    operationId: name,
    summary: generated.summary,
    description: generated.description,
    tags: generated.tags,
    security: securityOf(meta),
    parameters: [
      ...(generated.parameters ?? []).map((parameter) =>
        withExample(parameter as oas31.ParameterObject, meta.example ?? {}),
      ),
      ...(isWrite ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
    ],
    ...(body ? { requestBody: body } : {}),
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: sampleOf(operation) }],
    responses: {
      200: {
        ...answerOf(operation, generated.responses!['200'] as oas31.ResponseObject),
        description: 'Done',
        headers: successHeadersOf(operation),
      },
      ...Object.fromEntries([...byStatus].map(([status, faults]) => [status, responseOf(faults, meta)])),
    },
  };
}

/** Puts the refusals among the components, each once under its status and codes, and references in their places. */
function shareRefusals(operations: Operation[], paths: oas31.PathsObject): oas31.ResponsesObject {
  const shared: oas31.ResponsesObject = {};
  for (const { path, method, meta } of operations) {
    const { responses } = paths[path]![method.toLowerCase() as 'get']!;
    const byStatus = Map.groupBy(faultsOf(meta), (fault) => fault.status);
    for (const [status, faults] of byStatus) {
      const name = [status, ...faults.map(({ code }) => code), ...(meta.access === 'open' ? ['open'] : [])].join('.');
      shared[name as `${number}`] = responses![`${status}` as '400']!;
      responses![`${status}` as '400'] = { $ref: `#/components/responses/${name}` };
    }
  }
  return shared;
}

/** The plain answer, and beside it the file for those operations that answer one. */
function answerOf({ downloadType }: Operation, answer: oas31.ResponseObject): oas31.ResponseObject {
  if (downloadType === undefined) return answer;
  return { ...answer, content: { ...answer.content, [downloadType]: { schema: { type: 'string' } } } };
}

function withExample(parameter: oas31.ParameterObject, example: Record<string, unknown>): oas31.ParameterObject {
  return parameter.name in example ? { ...parameter, example: example[parameter.name] } : parameter;
}

function bodyOf(
  { meta, pathParameters }: Operation,
  body: oas31.RequestBodyObject | undefined,
): oas31.RequestBodyObject | undefined {
  const schema = body?.content['application/json']?.schema as oas31.SchemaObject | undefined;
  if (!schema) return undefined;
  const { bodyField, example } = meta;
  const whole = Object.entries(example ?? {}).filter(([field]) => !pathParameters.includes(field));
  return {
    required: bodyField !== undefined || (schema.required ?? []).length > 0,
    content: {
      'application/json': {
        schema: bodyField === undefined ? schema : schema.properties![bodyField]!,
        ...(example ? { example: bodyField === undefined ? Object.fromEntries(whole) : example[bodyField] } : {}),
      },
    },
  };
}

/** Bounds that only say what a JSON number can hold tell a reader nothing; positive integers read better as from 1. */
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
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [['maximum', maximum]]),
    ...(maximum === Number.MAX_SAFE_INTEGER ? [['format', 'int64']] : []),
  ]) as Value;
}
