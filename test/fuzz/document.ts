import type { oas31 } from 'zod-openapi';

/* What the fuzz knows of the service: /openapi.json, and nothing else. */

export type Schema = oas31.SchemaObject;
export type Parameter = { name: string; schema: Schema; required: boolean; example: unknown };

export type Documented = {
  id: string;
  method: string;
  /** With `{name}` for parameters. */
  path: string;
  inPath: Parameter[];
  inQuery: Parameter[];
  body: { schema: Schema; required: boolean; example: unknown } | undefined;
  /** Of the 200 that is JSON. */
  answer: Schema | undefined;
};

export type ApiDocument = {
  whole: oas31.OpenAPIObject;
  operations: Documented[];
  /** Follows a reference; `name` is the component's, where it is one. */
  resolve(schema: Schema | oas31.ReferenceObject): { schema: Schema; name: string | undefined };
};

export function readDocument(whole: oas31.OpenAPIObject): ApiDocument {
  function follow<Target>(value: Target | oas31.ReferenceObject): { target: Target; name: string | undefined } {
    const { $ref } = value as oas31.ReferenceObject;
    if ($ref === undefined) return { target: value as Target, name: undefined };
    const steps = $ref.slice(2).split('/');
    const target = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], whole);
    return { target: target as Target, name: steps.at(-1)! };
  }

  function toParameters(operation: oas31.OperationObject, place: string): Parameter[] {
    return (operation.parameters ?? [])
      .map((one) => follow<oas31.ParameterObject>(one).target)
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema, required, example }) => ({
        name,
        schema: (schema ?? {}) as Schema,
        required: required === true,
        example,
      }));
  }

  const operations = Object.entries(whole.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, oas31.OperationObject>).map(([method, operation]): Documented => {
      const body = operation.requestBody && follow<oas31.RequestBodyObject>(operation.requestBody).target;
      const media = body?.content['application/json'];
      const answer = operation.responses?.['200'] as oas31.ResponseObject | undefined;
      return {
        id: operation.operationId!,
        method: method.toUpperCase(),
        path,
        inPath: toParameters(operation, 'path'),
        inQuery: toParameters(operation, 'query'),
        body: media && {
          schema: media.schema as Schema,
          required: body?.required === true,
          example: media.example ?? exampleOf(media.examples),
        },
        answer: answer?.content?.['application/json']?.schema as Schema | undefined,
      };
    }),
  );
  return {
    whole,
    operations,
    resolve(schema) {
      const { target, name } = follow<Schema>(schema);
      return { schema: target, name };
    },
  };
}

function exampleOf(examples: object | undefined): unknown {
  const [first] = Object.values(examples ?? {}) as { value?: unknown }[];
  return first?.value;
}
