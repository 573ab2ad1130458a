import type { ErrorDefinition } from '../errors/api-error.ts';
import * as common from '../errors/errors.ts';
import { honoursIdempotencyKey, type OperationMeta } from './operation.ts';

/** All errors that an operation may answer: its own, and those of its access and method. */
export function errorsOf(meta: OperationMeta): ErrorDefinition[] {
  const { access = 'open', keys, openapi, events, errors: definitions = [] } = meta;
  const found = new Set<ErrorDefinition>(definitions);
  const add = (...more: ErrorDefinition[]) => more.forEach((one) => found.add(one));

  add(common.VALIDATION_FAILED, common.RATE_LIMITED, common.INTERNAL_ERROR, common.SERVICE_UNAVAILABLE);
  if (access !== 'open')
    add(common.UNAUTHENTICATED, common.TOKEN_PAIR_REQUIRED, common.INVALID_TOKEN, common.SESSION_ENDED);
  if (access === 'session') add(common.SESSION_REQUIRED);
  if (access === 'signedIn') add(common.SESSION_REQUIRED, common.SESSION_BOUND);
  if (access === 'admin') add(common.ADMIN_REQUIRED);
  const isOfCompany = access === 'member' || access === 'admin';
  if (isOfCompany) add(common.COMPANY_REQUIRED);
  if (isOfCompany && keys !== 'any key') add(keys === 'no key' ? common.SESSION_REQUIRED : common.SCOPE_REQUIRED);
  if (isOfCompany && isWrite(meta) && !meta.whileClosed) add(common.COMPANY_CLOSED);
  // Malformed HTTP is refused on any path.
  if (openapi) add(common.MALFORMED_REQUEST, common.EXPECTATION_FAILED);
  if (openapi?.path.includes('{')) add(common.NOT_FOUND, common.ROUTE_NOT_FOUND);
  if (events) add(common.TOO_MANY_CONNECTIONS, common.TOO_MANY_SUBSCRIPTIONS);
  if (isWrite(meta))
    add(common.MALFORMED_JSON, common.REQUEST_TIMEOUT, common.BODY_TOO_LARGE, common.UNSUPPORTED_MEDIA_TYPE);
  if (honoursIdempotencyKey(meta)) add(common.IDEMPOTENCY_KEY_IN_USE, common.IDEMPOTENCY_KEY_REUSED);
  return [...found].toSorted((a, b) => a.status - b.status || a.code.localeCompare(b.code));
}

const isWrite = ({ openapi }: OperationMeta): boolean => openapi !== undefined && openapi.method !== 'GET';

/** tRPC reports these while the operation reads its input; REST refuses them before. */
const whileReading = [common.MALFORMED_JSON, common.MALFORMED_REQUEST];

const codesByMeta = new WeakMap<OperationMeta, Set<string>>();

export function codesOf(meta: OperationMeta): Set<string> {
  let codes = codesByMeta.get(meta);
  if (!codes)
    codesByMeta.set(meta, (codes = new Set([...errorsOf(meta), ...whileReading].map((definition) => definition.code))));
  return codes;
}
