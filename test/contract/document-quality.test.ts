import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { oas31 } from 'zod-openapi';
import { createDocument } from '../../server/surfaces/openapi/openapi.ts';
import { operationsOf } from '../../server/kernel/operations.ts';
import { appRouter } from '../../server/router.ts';
import { documentFormats } from '../support/document-check.ts';

/* What a reader and a generator of clients may expect of /openapi.json beyond its being valid. */

type Schema = oas31.SchemaObject;
const document = JSON.parse(JSON.stringify(createDocument(appRouter, 'https://api.example.test'))) as ReturnType<
  typeof createDocument
>;
const operations = Object.entries(document.paths!).flatMap(([path, item]) =>
  Object.entries(item as Record<string, oas31.OperationObject>).map(
    ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
  ),
);

function resolve<Target extends object>(value: Target | oas31.ReferenceObject): Target {
  const { $ref } = value as oas31.ReferenceObject;
  if ($ref === undefined) return value as Target;
  return $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document) as Target;
}

const parametersOf = (operation: oas31.OperationObject) =>
  (operation.parameters ?? []).map((one) => resolve<oas31.ParameterObject>(one));

const bodyOf = ({ requestBody }: oas31.OperationObject) =>
  requestBody && resolve<oas31.RequestBodyObject>(requestBody).content['application/json'];

/** Every field of a schema, by its place, also inside of others. */
function fieldsOf(given: Schema | oas31.ReferenceObject, place: string): [place: string, field: Schema][] {
  if ('$ref' in given) return [];
  const { properties = {}, items, anyOf = [], oneOf = [] } = given;
  return [
    ...Object.entries(properties).flatMap(([name, field]): [string, Schema][] => {
      const at = `${place}.${name}`;
      return [[at, field as Schema], ...fieldsOf(field, at)];
    }),
    ...(items ? fieldsOf(items, `${place}[]`) : []),
    ...[...anyOf, ...oneOf].flatMap((option) => fieldsOf(option, place)),
  ];
}

/** What says of which type a field is, and not what it means. */
const ofTypes = new Set(['Identifier', 'UTC with milliseconds', 'ISO 8601 with any offset']);

/** The places of the fields whose meaning is not said; `_id` is the identifier of its record. */
const bareOf = (fields: [place: string, field: Schema][]): string[] =>
  fields
    .filter(([place, field]) => !('$ref' in field) && !place.endsWith('._id'))
    .filter(([, { description = '' }]) => description === '' || ofTypes.has(description))
    .map(([place]) => place);

/** Everything that is an object in the document. */
function* partsOf(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const part of Object.values(value)) yield* partsOf(part);
}

function createValidator(formats: object) {
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    formats: { ...documentFormats, uri: /^https?:\/\/\S+$/, ...formats },
  });
  return ajv.addSchema(document, 'document');
}
const answered = createValidator({});
/** Requests have any offset and need no milliseconds. */
const asked = createValidator({ 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/ });

function problemsOf(ajv: Ajv2020, schema: Schema | oas31.ReferenceObject, value: unknown): string[] {
  const pointed = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
  const validate = ajv.compile(pointed);
  return validate(value) ? [] : [ajv.errorsText(validate.errors)];
}

describe('the OpenAPI document', () => {
  test('passes a second linter, strictly: no unused components, no invalid examples, no missing descriptions', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      rules: {
        'operation-parameters-unique': 'error',
        'parameter-description': 'error',
        'tag-description': 'error',
        'no-required-schema-properties-undefined': 'error',
        // The documented interface has such paths.
        'no-path-trailing-slash': 'off',
        'no-ambiguous-paths': 'off',
        'no-server-example.com': 'off',
      },
    });
    const source = JSON.stringify(document);
    const found = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    expect(found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([]);
  });

  test('says who may use the service and whom to ask', () => {
    expect(document.info.license?.name).toBeTruthy();
    expect(document.info.contact).toMatchObject({ name: expect.any(String), url: expect.stringMatching(/^https:/) });
  });

  test('has no integer that a generator takes for more than a number holds', () => {
    const integers = [...partsOf(document)].filter(({ type }) => [type].flat().includes('integer'));
    expect(integers.length).toBeGreaterThan(100);
    const isBounded = ({ maximum }: Schema) => maximum !== undefined && maximum <= Number.MAX_SAFE_INTEGER;
    expect(integers.filter((schema) => 'format' in schema || !isBounded(schema))).toEqual([]);
  });

  test('describes every field of every record', () => {
    const fields = Object.entries(document.components!.schemas!).flatMap(([name, schema]) => fieldsOf(schema, name));
    expect(bareOf(fields)).toEqual([]);
  });

  test('says how large a body may be where it is not 1 MiB', () => {
    const larger = operationsOf(appRouter).filter(({ meta }) => meta.bodyBytesMax !== undefined);
    expect(larger).not.toEqual([]);
    for (const { method, path, meta } of larger)
      expect(operations.find(([line]) => line === `${method} ${path}`)![1].description).toContain(
        `at most ${meta.bodyBytesMax! / 1024 / 1024} MiB`,
      );
  });

  test('lists the bodyCredentials of /token-login/', () => {
    expect(document.paths!['/token-login/']!.post!.security).toEqual([
      { LoginTicket: [] },
      { AccessToken: [], RefreshToken: [] },
      { ApiKey: ['login'] },
    ]);
  });

  test('has an operation for each of the router', () => {
    expect(operations).toHaveLength(operationsOf(appRouter).length);
  });
});

describe.each(operations)('%s', (_line, operation) => {
  test('describes its parameters, its fields and its answers', () => {
    const parameters = parametersOf(operation);
    const isDescribed = ({ description = '' }: oas31.ParameterObject) => /^(?!Identifier$).{4,}/.test(description);
    expect(parameters.filter((one) => !isDescribed(one))).toEqual([]);
    // The client that retries chooses the key.
    expect(parameters.filter((one) => one.example === undefined).map(({ name }) => name)).toEqual(
      parameters.filter(({ name }) => name === 'Idempotency-Key').map(({ name }) => name),
    );
    const schema = bodyOf(operation)?.schema;
    expect(bareOf(schema === undefined ? [] : fieldsOf(schema, 'body'))).toEqual([]);
    const { content } = resolve(operation.responses!['200'] as oas31.ResponseObject);
    const answer = fieldsOf(content!['application/json']!.schema ?? {}, 'answer');
    expect(bareOf(answer)).toEqual([]);
    for (const response of Object.values(operation.responses!))
      expect(resolve<oas31.ResponseObject>(response).description.length).toBeGreaterThan(3);
  });

  test('lists the values of each flag in its query', () => {
    const flags = parametersOf(operation).filter(
      (one) => one.in === 'query' && (one.schema as Schema).type === 'boolean',
    );
    for (const { schema } of flags) expect(schema).toMatchObject({ enum: [true, false] });
  });

  test('shows a request and an answer that are valid by their schemas', () => {
    const body = bodyOf(operation);
    const requests = [...parametersOf(operation), ...(body ? [body] : [])].filter(
      ({ example }) => example !== undefined,
    );
    expect(requests.flatMap(({ schema, example }) => problemsOf(asked, schema!, example))).toEqual([]);

    const answers = resolve(operation.responses!['200'] as oas31.ResponseObject).content!;
    const texts = Object.values(answers).filter(({ schema }) => (schema as Schema).format !== 'binary');
    const shown = texts.flatMap(({ schema, example, examples = { only: { value: example } } }) =>
      Object.values(examples).map((one) => [schema!, (one as { value: unknown }).value] as const),
    );
    expect(shown.map(([, value]) => typeof value)).not.toContain('undefined');
    expect(shown.flatMap(([schema, value]) => problemsOf(answered, schema, value))).toEqual([]);
  });
});

test('the file that a timesheet can be shows the columns of its rows', () => {
  const { responses } = document.paths!['/api/timesheets/{company_id}/']!.get!;
  const { content } = responses!['200'] as { content: Record<string, { example: unknown }> };
  const { rows } = content['application/json']!.example as { rows: [object] };
  const [columns] = (content['text/csv']!.example as string).split('\r\n');
  // Without `amounts=true`, as in the example, there is no column of money.
  expect(columns!.split(',')).toEqual(Object.keys(rows[0]).filter((field) => field !== 'amounts'));
});
