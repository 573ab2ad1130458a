import type { oas31 } from 'zod-openapi';
import { definedErrors, type ErrorDefinition, type ErrorDetails } from '../../errors/api-error.ts';
import {
  EXPECTATION_FAILED,
  MALFORMED_REQUEST,
  METHOD_NOT_ALLOWED,
  ROUTE_NOT_FOUND,
  SERVICE_UNAVAILABLE,
} from '../../errors/errors.ts';
import { issueCodes, type Issue } from '../../errors/issues.ts';
import { scopeKindOf, scopesOf, type BodyCredential, type OperationMeta } from '../../kernel/operation.ts';
import type { Operation } from '../../kernel/operations.ts';
import { scopes } from '../../platform/scopes.ts';
import { headerComponents, errorHeadersOf } from './headers.ts';
import { problemOf } from '../http/problem.ts';
import type { Schemas } from './schema-descriptions.ts';

/* The parts of the OpenAPI document that operations share: the problem document, tokens and headers. */

const exampleRequestId = '0b9f2f0e-6f0c-4c53-9b6c-1d3c3a6f8f11';
const exampleIssue: Issue = { path: ['email'], message: 'is required', code: 'required' };

const exampleDetails: Record<string, ErrorDetails> = {
  VALIDATION_FAILED: { issues: [exampleIssue] },
  SCOPE_REQUIRED: { missingScopes: ['tasks:write'] },
};

/** An error as it is answered, for the reference and the page of its code. */
export function exampleProblemOf(definition: ErrorDefinition) {
  return problemOf(definition(exampleDetails[definition.code] ?? {}), exampleRequestId);
}

const problem: oas31.SchemaObject = {
  type: 'object',
  description: 'Why a request was refused (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'The page that explains the code' },
    title: { type: 'string', description: 'What the code means; always the same for one code' },
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status' },
    detail: { type: 'string', description: 'What was wrong this time, for a person' },
    code: { type: 'string', pattern: '^[A-Z][A-Z0-9_]*$', description: 'A stable word for programs' },
    requestId: { type: 'string', description: 'Names this request in the log of the service' },
    issues: {
      type: 'array',
      description:
        'For invalid input: each field and what is wrong with it. For locked days: each day, or each entry on one',
      items: {
        type: 'object',
        required: ['path', 'message', 'code'],
        additionalProperties: false,
        properties: {
          path: {
            type: 'array',
            items: { type: ['string', 'integer'], maximum: Number.MAX_SAFE_INTEGER },
            description: 'Where in the input',
          },
          message: { type: 'string', description: 'What is wrong, for a person' },
          code: {
            type: 'string',
            enum: Object.keys(issueCodes),
            description: Object.entries(issueCodes)
              .map(([code, meaning]) => `* \`${code}\`: ${meaning}`)
              .join('\n'),
          },
        },
      },
    },
    missingScopes: {
      type: 'array',
      items: { type: 'string', enum: [...scopes] },
      description: 'With `SCOPE_REQUIRED`: the scopes that the API key lacks for this',
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
    description:
      'An API key (`wms_…`) for scripts and integrations, without a refresh token. The names beside it are the scopes that the key needs, all of one line.',
  },
  LoginTicket: {
    type: 'http',
    scheme: 'bearer',
    description: '`login_ticket` of a login that asks for a company; 5 minutes, once.',
  },
};

const pair = { AccessToken: [], RefreshToken: [] };
const bodyCredentials: Record<BodyCredential, oas31.SecurityRequirementObject> = {
  loginTicket: { LoginTicket: [] },
  pair,
  // The body asks for this scope if the credential is a key.
  apiKey: { ApiKey: ['login'] },
};

/** The credentials of an operation, of which one is needed. Beside an API key stand the scopes that it needs, all of them. */
export function securityOf({ meta, type }: Operation): oas31.SecurityRequirementObject[] {
  if (meta.bodyCredentials) return meta.bodyCredentials.map((proof) => bodyCredentials[proof]);
  if (meta.access === 'open') return [];
  const keys = scopesOf(meta, scopeKindOf(type)).map((scopes) => ({ ApiKey: [...scopes] }));
  return meta.keys === 'any key' ? keys : [pair, ...keys];
}

/**
 * The response for one status, with the codes that it may have and an example of each; without an operation, that of
 * any path.
 */
export function responseOf(definitions: ErrorDefinition[], meta?: OperationMeta): oas31.ResponseObject {
  const { status } = definitions[0]!;
  return {
    description: definitions.map(({ code, sentence }) => `* \`${code}\`: ${sentence}`).join('\n'),
    headers: errorHeadersOf(status, meta),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(definitions.map(({ code }) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** The errors of any path, before an operation is reached. */
const beforeRouting = [MALFORMED_REQUEST, ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED, EXPECTATION_FAILED, SERVICE_UNAVAILABLE];

/** Their responses by status, inlined: no operation lists these errors. */
export function anyPathResponses(): Record<string, oas31.ResponseObject> {
  const headers = headerComponents();
  const byStatus = Map.groupBy(beforeRouting, ({ status }) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, definitions]) => {
      const response = responseOf(definitions);
      const { schema } = response.content!['application/problem+json']!;
      return [
        status,
        {
          ...response,
          headers: Object.fromEntries(
            Object.entries(response.headers!).map(([name, { $ref }]) => [name, headers[$ref!.split('/').at(-1)!]!]),
          ),
          content: {
            'application/problem+json': {
              schema,
              examples: Object.fromEntries(
                definitions.map((definition) => [definition.code, { value: exampleProblemOf(definition) }]),
              ),
            },
          },
        },
      ];
    }),
  );
}

export function components(schemas: Schemas, responses: oas31.ResponsesObject): oas31.ComponentsObject {
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
    responses,
    examples: Object.fromEntries(
      definedErrors().map((definition) => [
        definition.code,
        { summary: definition.sentence, value: exampleProblemOf(definition) },
      ]),
    ),
    securitySchemes,
  };
}
