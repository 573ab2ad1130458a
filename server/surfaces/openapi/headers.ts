import type { oas31 } from 'zod-openapi';
import { honoursIdempotencyKey, type OperationMeta } from '../../kernel/operation.ts';
import type { Operation } from '../../kernel/operations.ts';

/* The headers of answers in the OpenAPI document. */

const count: oas31.SchemaObject = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

const headers: Record<string, oas31.HeaderObject> = {
  'X-Request-Id': {
    description: 'Names this request; taken over from the request where it sends one that fits',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': { description: 'How many requests in how many seconds', schema: { type: 'string' } },
  'RateLimit-Limit': {
    description: 'Requests a minute for this operation, by the limit of which least remains',
    schema: count,
  },
  'RateLimit-Remaining': { description: 'How many of them are left', schema: count },
  'RateLimit-Reset': { description: 'Seconds until all of them are back', schema: count },
  'Retry-After': { description: 'Seconds to wait before the next try', schema: count },
  'X-Access-Token': {
    description: 'A fresh access token, where the one that was sent had expired and the refresh token was good',
    schema: { type: 'string' },
  },
  'Content-Disposition': { description: 'The name of a file to download', schema: { type: 'string' } },
  'Idempotency-Replayed': {
    description: '`true` where this is the kept answer of an earlier request with the same Idempotency-Key',
    schema: { type: 'string', const: 'true' },
  },
  'WWW-Authenticate': { description: 'Always `Bearer`', schema: { type: 'string', const: 'Bearer' } },
  Allow: { description: 'The methods that the path takes', schema: { type: 'string' } },
};
const limitHeaders = ['RateLimit-Policy', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** Headers by name: those that every such answer has, and those that some have. */
function headersOf(names: { always: string[]; sometimes: string[] }): oas31.HeadersObject {
  return Object.fromEntries([
    ...names.always.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ...names.sometimes.map((name) => [name, { $ref: `#/components/headers/${name}.Optional` }]),
  ]);
}

/** The headers of a success. */
export function successHeadersOf({ meta, files }: Operation): oas31.HeadersObject {
  return headersOf({
    always: ['X-Request-Id', ...limitHeaders],
    sometimes: [
      ...(meta.access === 'open' ? [] : ['X-Access-Token']),
      ...(honoursIdempotencyKey(meta) ? ['Idempotency-Replayed'] : []),
      ...(Object.keys(files).length > 0 ? ['Content-Disposition'] : []),
    ],
  });
}

/** The headers of an error; without an operation, of one before any operation is reached. */
export function errorHeadersOf(status: number, meta?: OperationMeta): oas31.HeadersObject {
  const waits = status === 429 || status === 503;
  return headersOf({
    always: [
      'X-Request-Id',
      ...(status === 401 ? ['WWW-Authenticate'] : []),
      ...(status === 405 ? ['Allow'] : []),
      ...(waits ? ['Retry-After'] : []),
    ],
    // An error from before the rate limit does not tell the remaining budget.
    sometimes: [
      ...(meta === undefined ? [] : limitHeaders),
      ...(meta === undefined || meta.access === 'open' ? [] : ['X-Access-Token']),
      ...(status === 409 ? ['Retry-After'] : []),
    ],
  });
}

/** Every header twice: a reference cannot say whether the header is always present. */
export function headerComponents(): Record<string, oas31.HeaderObject> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, header]) => [
      [name, { ...header, required: true }],
      [`${name}.Optional`, header],
    ]),
  );
}
