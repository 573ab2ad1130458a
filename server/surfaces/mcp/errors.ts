import type { ApiError, ErrorKind } from '../../errors/api-error.ts';
import type { Issue } from '../../errors/issues.ts';
import { errorHeaders } from '../http/problem.ts';

/** What an agent can do about an error, by its kind. */
const remedies: Record<ErrorKind, string> = {
  BAD_REQUEST: 'Correct the arguments that issues names, and call again.',
  UNAUTHORIZED: 'Ask the person for a valid API key, or connect again.',
  FORBIDDEN: 'The person may not do this, or their key may not: tell them what is missing.',
  NOT_FOUND: 'Look up the right number with search or one of the lists.',
  METHOD_NOT_SUPPORTED: 'Call a tool of the list.',
  TIMEOUT: 'Call again with the same idempotency_key.',
  CONFLICT: 'Read the present state, tell the person, and do not repeat the call unchanged.',
  PAYLOAD_TOO_LARGE: 'Shorten the texts.',
  UNSUPPORTED_MEDIA_TYPE: 'Send JSON.',
  PRECONDITION_FAILED: 'Send no Expect header.',
  UNPROCESSABLE_CONTENT: 'Take a new idempotency_key for a new call.',
  TOO_MANY_REQUESTS: 'Wait, then call again.',
  INTERNAL_SERVER_ERROR: 'Tell the person, with request_id. Nothing was changed.',
  SERVICE_UNAVAILABLE: 'Wait, then call again with the same idempotency_key.',
};

/** An error as an agent reads it: a code, a sentence and what to do. */
export function toolErrorOf(error: ApiError, requestId: string) {
  const { definition, issues, missingScopes } = error;
  const seconds = errorHeaders(error)['Retry-After'];
  return {
    error: {
      code: definition.code,
      message: error.message,
      issues: issues?.map(issueOf),
      missing_scopes: missingScopes,
      remedy: seconds === undefined ? remedies[definition.kind] : `Wait ${seconds} seconds, then call again.`,
      request_id: requestId,
    },
  };
}

/** What is wrong with one argument, or with all of them together. */
const issueOf = ({ path, message, code }: Issue) => ({
  argument: path.length > 0 ? path.join('.') : undefined,
  message,
  code,
});
