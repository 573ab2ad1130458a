import { isApiError, type ApiError, type Issue } from 'work-management-client';
import { plain, plainJson } from '../examples/terminal/plain-text.ts';
import { kebabCase } from './command.ts';
import { exitCodes, Problem, type ExitCode } from './problem.ts';

export type Explained = { exitCode: ExitCode; text: string };

/** What was called: the command, and the rest of the command line. */
type Called = { words: string; rest?: string[]; isJson: boolean };

/** What the flags and operands of shortcuts are for: each field of their operations by those that decide it. */
const namesInShortcuts: Record<string, Record<string, string[]>> = {
  log: { task_id: ['<task>'], start_time: ['--on', '--at'], end_time: ['--on', '--at'], description: ['--note'] },
  timer: { taskId: ['<task>'], description: ['--note'] },
};

/** What went wrong, with its code, and what to do next. */
export function explainError(error: unknown, { words, rest = [], isJson }: Called): Explained {
  if (isApiError(error)) {
    const text = isJson ? plainJson(detailsOf(error)) : plain(sentencesOf(error, words, rest));
    return { exitCode: exitCodeOf(error), text };
  }
  if (error instanceof Problem)
    return { exitCode: error.exitCode, text: sentenceOf(error.message, error.exitCode, isJson) };
  // A field that an operation needs and no session has, for example.
  if (error instanceof TypeError && !isJson) return { exitCode: exitCodes.usage, text: plain(error.message) };
  const { message } = error instanceof Error ? error : { message: String(error) };
  return { exitCode: exitCodes.failed, text: sentenceOf(message, exitCodes.failed, isJson) };
}

function sentenceOf(message: string, exitCode: ExitCode, isJson: boolean): string {
  if (!isJson) return plain(message);
  return plainJson({ code: exitCode === exitCodes.usage ? 'USAGE' : 'FAILED', message: message.trim() });
}

function exitCodeOf({ status, code }: ApiError): ExitCode {
  if (status === 401) return exitCodes.notSignedIn;
  // What passes by itself is a failure, and may be tried again.
  const isPassing = status < 400 || status >= 500 || status === 429 || status === 408;
  return isPassing || code === 'UNEXPECTED_ANSWER' ? exitCodes.failed : exitCodes.refused;
}

function detailsOf({
  code,
  status,
  message,
  issues,
  missingScopes,
  operation,
  requestId,
  retryAfterMs,
}: ApiError): object {
  return { code, status, message, issues, missingScopes, operation, requestId, retryAfterMs };
}

function sentencesOf(error: ApiError, words: string, rest: string[]): string {
  const { code, message, issues, requestId, status } = error;
  // The message of an invalid input names fields, and the issues their flags.
  const head = code === 'VALIDATION_FAILED' && issues.length > 0 ? 'The input is not valid.' : message;
  const places = issues.map((issue) => `  ${placeOf(issue, words, rest)} ${issue.message}`);
  const lines = [`${head} (${code})`, ...new Set(places)];
  const remedy = remedyOf(error, words);
  if (remedy !== undefined) lines.push(remedy);
  if (status >= 500 && requestId !== undefined) lines.push(`The service's log has it as request ${requestId}.`);
  return lines.join('\n');
}

/** An issue by the flag of its field. */
function placeOf({ path }: Issue, words: string, rest: string[]): string {
  const [field, ...within] = path;
  if (field === undefined) return '';
  const names = namesInShortcuts[words]?.[field];
  if (names) {
    const given = names.filter((name) => rest.some((one) => one.startsWith(name)));
    return (given.length > 0 ? given : names).join(' and ');
  }
  const inner = within.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return typeof field === 'string' ? `--${kebabCase(field)}${inner}` : `[${field}]${inner}`;
}

function remedyOf({ code, retryAfterMs, issues, missingScopes }: ApiError, words: string): string | undefined {
  switch (code) {
    case 'UNAUTHENTICATED':
    case 'INVALID_TOKEN':
    case 'SESSION_ENDED':
    case 'TOKEN_PAIR_REQUIRED':
      return 'Sign in with `wms login`, or set WMS_API_KEY to a key that works.';
    case 'COMPANY_REQUIRED':
      return 'Accept an invitation (`wms invitations list`), or sign in to a company with `wms login`.';
    case 'NETWORK_ERROR':
    case 'TIMEOUT':
    case 'UNEXPECTED_ANSWER':
      return '`wms whoami` shows which service is called; WMS_URL or `wms login --url` chooses another.';
    case 'SCOPE_REQUIRED':
      return missingScopes.length > 0
        ? `The key lacks ${missingScopes.join(' and ')}: \`wms api-keys create --help\` makes one that has it.`
        : undefined;
    case 'VALIDATION_FAILED':
      return issues.length > 0 ? `\`wms ${words} --help\` lists the flags.` : undefined;
    default:
      return retryAfterMs === undefined ? undefined : `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`;
  }
}
