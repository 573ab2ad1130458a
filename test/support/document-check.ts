import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { oas31 } from 'zod-openapi';

/** An answer as it left the service. */
export type Answered = {
  method: string;
  /** Path and query as they were asked for. */
  url: string;
  /** The operation whose route answered, if one did. */
  operationId: string | undefined;
  status: number;
  /** Names in small letters. */
  headers: Record<string, string>;
  /** Undefined where it was sent piece by piece. */
  body: string | undefined;
};

/** What is wrong with an answer by the document; undefined where the document is not about it. */
export type DocumentCheck = (answered: Answered) => string[] | undefined;

/** A response of the document, and where in it that stands. */
type Described = { pointer: string[]; response: oas31.ResponseObject };
type Path = { pattern: RegExp; path: string; methods: Map<string, oas31.OperationObject> };

/** Headers of HTTP itself and of browsers' safety, which say nothing of an operation. */
const general = new Set(
  `content-type content-length content-encoding cache-control connection vary content-security-policy cross-origin-opener-policy
   cross-origin-resource-policy origin-agent-cluster referrer-policy strict-transport-security x-content-type-options
   x-dns-prefetch-control x-download-options x-frame-options x-permitted-cross-domain-policies x-xss-protection
   access-control-allow-origin access-control-expose-headers access-control-allow-methods access-control-allow-headers
   access-control-max-age`.split(/\s+/),
);

/** The formats of the document, as the service promises them. */
export const documentFormats = {
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  email: /^[^@\s]+@[^@\s]+$/,
  'uri-reference': /^\S+$/,
};

/** Checks answers against an OpenAPI document: status, media type, headers, body and the code of an error. */
export function createDocumentCheck(document: oas31.OpenAPIObject): DocumentCheck {
  const paths = Object.entries(document.paths ?? {}).map(([path, item]) => toPath(path, item));
  const responseOf = createFinder(document, paths);
  const checkBody = createBodyCheck(document);

  return (answered) => {
    const { method, status } = answered;
    const found = responseOf(answered);
    if (found === undefined) return undefined;
    const { name, described } = found;
    // What HTTP asks of any path, and no description can add to.
    if (method === 'OPTIONS' && status === 204) return [];
    const problems =
      described === undefined
        ? ['that status is not declared']
        : [...checkHeaders(document, described.response, answered), ...checkBody(described, answered)];
    return problems.map((problem) => `${name} answered ${status}: ${problem}`);
  };
}

function toPath(path: string, item: object): Path {
  const methods = Object.entries(item).map(([method, operation]) => [method.toUpperCase(), operation] as const);
  const escaped = path.replaceAll(/[.+*]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '[^/]+');
  return { path, pattern: new RegExp(`^${escaped.replace(/\/$/, '/?')}$`), methods: new Map(methods) };
}

/** Finds what the document says of an answer: by its operation, or by its path where no operation was reached. */
function createFinder(document: oas31.OpenAPIObject, paths: Path[]) {
  const all = paths.flatMap(({ path, methods }) =>
    [...methods].map(([method, operation]) => ({ path, method, operation })),
  );
  const byId = new Map(all.map((one) => [one.operation.operationId, one]));

  function find({ method, url, operationId }: Answered) {
    if (operationId !== undefined) {
      const found = byId.get(operationId);
      if (!found) throw new Error(`${operationId} is served and not in the document`);
      return { ...found, isPath: true };
    }
    const asked = url.split('?', 1)[0]!;
    const matching = paths.filter(({ pattern }) => pattern.test(asked));
    // Words go before parameters, as OpenAPI has it.
    const parametersOf = ({ path }: Path) => path.split('{').length;
    const best = matching.toSorted((a, b) => parametersOf(a) - parametersOf(b))[0];
    const asGet = method === 'HEAD' ? 'GET' : method;
    const one = all.find(({ path, method: its }) => its === asGet && path === best?.path);
    return { ...one, isPath: best !== undefined };
  }

  return (answered: Answered): { name: string; described: Described | undefined } | undefined => {
    const { isPath, operation, path, method } = find(answered);
    if (!isPath) return undefined;
    const status = String(answered.status);
    if (operation === undefined) {
      const name = `${answered.method} ${answered.url.split('?', 1)[0]!}`;
      const { responses } = document['x-any-path'] as { responses: Record<string, oas31.ResponseObject> };
      const response = responses[status];
      return { name, described: response && { pointer: ['x-any-path', 'responses', status], response } };
    }
    const name = `${method} ${path}`;
    const response = operation.responses?.[status];
    if (response === undefined) return { name, described: undefined };
    // Refusals are shared by the operations that answer them.
    const pointer: string[] =
      '$ref' in response
        ? response.$ref!.split('/').slice(1)
        : ['paths', path!, method!.toLowerCase(), 'responses', status];
    const found = pointer.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document);
    return { name, described: { pointer, response: found as oas31.ResponseObject } };
  };
}

function checkHeaders(document: oas31.OpenAPIObject, response: oas31.ResponseObject, { headers }: Answered): string[] {
  const declared = Object.entries(response.headers ?? {}).map(([name, header]) => {
    const named = '$ref' in header ? document.components?.headers?.[header.$ref!.split('/').at(-1)!] : header;
    return [name.toLowerCase(), named as oas31.HeaderObject] as const;
  });
  const names = new Set([...general, ...declared.map(([name]) => name)]);
  const unknown = Object.keys(headers).filter((name) => !names.has(name));
  const problems = declared.flatMap(([name, { required, schema }]) => {
    const value = headers[name];
    if (value === undefined) return required === true ? [`the header ${name} is missing`] : [];
    const { type, const: only } = schema as oas31.SchemaObject;
    if (type === 'integer' && !/^\d+$/.test(value)) return [`the header ${name} is no integer`];
    return only !== undefined && only !== value ? [`the header ${name} is not ${JSON.stringify(only)}`] : [];
  });
  return [...unknown.map((name) => `the header ${name} is not declared`), ...problems];
}

function createBodyCheck(document: oas31.OpenAPIObject) {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: documentFormats });
  ajv.addSchema(document, 'document');
  const compiled = new Map<string, ValidateFunction>();

  // Compiled when it is first needed: a test file meets few of all operations.
  function validatorAt(pointer: string[]): ValidateFunction {
    const steps = pointer.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')));
    const $ref = `document#/${steps.join('/')}`;
    let validate = compiled.get($ref);
    if (!validate) compiled.set($ref, (validate = ajv.compile({ $ref })));
    return validate;
  }

  return ({ pointer, response }: Described, { method, headers, body }: Answered): string[] => {
    const type = (headers['content-type'] ?? 'none').split(';', 1)[0]!;
    const described = response.content?.[type];
    if (!described) return [`the media type ${type} is not declared`];
    if (method === 'HEAD' || body === undefined || !type.endsWith('json')) return [];
    const value: unknown = JSON.parse(body);
    const { code = '' } = value as { code?: string };
    if (type === 'application/problem+json' && !(code in (described.examples ?? {})))
      return [`the code ${code} is not declared`];
    const validate = validatorAt([...pointer, 'content', type, 'schema']);
    return validate(value) ? [] : [ajv.errorsText(validate.errors, { dataVar: 'body' })];
  };
}
