import type { oas31 } from 'zod-openapi';
import { declaredFaults, type Fault, type Issue } from '../kernel/fault.ts';
import { MALFORMED_REQUEST, METHOD_NOT_ALLOWED, NOT_FOUND, SERVICE_UNAVAILABLE } from '../kernel/faults.ts';
import type { OperationMeta } from '../kernel/operation.ts';
import { headerComponents, refusalHeadersOf } from './openapi-headers.ts';
import { problemOf } from './problem.ts';

/* The parts of the OpenAPI document that operations share: the problem document, tokens and headers. */

const exampleRequestId = '0b9f2f0e-6f0c-4c53-9b6c-1d3c3a6f8f11';
const exampleIssue: Issue = { path: ['email'], message: 'is required', code: 'invalid_type' };

/** A refusal as it is answered, for the reference and for the page of its code. */
export function exampleProblemOf(fault: Fault) {
  return problemOf(fault(fault.code === 'VALIDATION_FAILED' ? { issues: [exampleIssue] } : {}), exampleRequestId);
}

const problem: oas31.SchemaObject = {
  type: 'object',
  description: 'Why a request was refused (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'The page that explains the code' },
    title: { type: 'string', description: 'What the code means; always the same for one code' },
    status: { type: 'integer', description: 'The HTTP status' },
    detail: { type: 'string', description: 'What was wrong this time, for a person' },
    code: { type: 'string', pattern: '^[A-Z][A-Z0-9_]*$', description: 'A stable word for programs' },
    requestId: { type: 'string', description: 'Names this request in the log of the service' },
    issues: {
      type: 'array',
      description: 'For invalid input: each field and what is wrong with it',
      items: {
        type: 'object',
        required: ['path', 'message', 'code'],
        additionalProperties: false,
        properties: {
          path: { type: 'array', items: { type: ['string', 'integer'] }, description: 'Where in the input' },
          message: { type: 'string' },
          code: { type: 'string' },
        },
      },
    },
  },
};

const securitySchemes: Record<string, oas31.SecuritySchemeObject> = {
  AccessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: '`access_token` of a login; 15 minutes. Goes together with RefreshToken.',
  },
  RefreshToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Refresh-Token',
    description: '`refresh_token` of the same login; 30 days. Goes together with AccessToken.',
  },
  ApiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key (`wms_…`) for scripts and integrations, without a refresh token.',
  },
};

export function securityOf({ access = 'open' }: OperationMeta): oas31.SecurityRequirementObject[] {
  if (access === 'open') return [];
  const pair = { AccessToken: [], RefreshToken: [] };
  // Only a session manages sessions.
  return access === 'signedIn' ? [pair] : [pair, { ApiKey: [] }];
}

/** The answer for one status: which codes it can carry and what each looks like; without an operation, that of any path. */
export function responseOf(faults: Fault[], meta?: OperationMeta): oas31.ResponseObject {
  const { status } = faults[0]!;
  return {
    description: faults.map(({ code, sentence }) => `* \`${code}\`: ${sentence}`).join('\n'),
    headers: refusalHeadersOf(status, meta),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(faults.map(({ code }) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** What any path may answer before an operation is reached: no operation lists these, so they stand here by status. */
const beforeRouting = [MALFORMED_REQUEST, NOT_FOUND, METHOD_NOT_ALLOWED, SERVICE_UNAVAILABLE];

export function components(schemas: oas31.SchemasObject, responses: oas31.ResponsesObject): oas31.ComponentsObject {
  return {
    schemas: { ...schemas, Problem: problem },
    parameters: {
      'Idempotency-Key': {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'A key of your own making. The same key with the same body within 24 hours gets the first answer again, and nothing happens twice.',
        schema: { type: 'string', minLength: 1 },
      },
    },
    headers: headerComponents(),
    responses: {
      ...responses,
      ...Object.fromEntries(beforeRouting.map((fault) => [fault.status, responseOf([fault])])),
    },
    examples: Object.fromEntries(
      declaredFaults().map((fault) => [fault.code, { summary: fault.sentence, value: exampleProblemOf(fault) }]),
    ),
    securitySchemes,
  };
}
