import { isApiError, type ApiError } from 'work-management-client';
import { apiKey, urlOf } from './connection.ts';
import { plain, plainLine } from './plain-text.ts';
import { Problem } from './problem.ts';

/** What went wrong, and what to do next. */
export function explain(error: unknown, url?: string): string {
  if (error instanceof Problem) return plain(error.message);
  if (isApiError(error)) return plain(sentenceOf(error, url));
  if (isOfSystem(error)) return plain(fileSentenceOf(error));
  return plain(`This should not happen: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
}

function sentenceOf(error: ApiError, url?: string): string {
  if (isApiError(error, 'NETWORK_ERROR', 'TIMEOUT'))
    return `No answer from ${urlOf(url)}. Is the service running there, and is --url or WMS_URL right?`;
  if (isApiError(error, 'UNEXPECTED_ANSWER'))
    return `${urlOf(url)} answers, but is not the service. Are the host and the port in --url or WMS_URL right?`;
  if (isApiError(error, 'INVALID_TOKEN', 'UNAUTHENTICATED', 'SESSION_ENDED') && apiKey() !== undefined)
    return 'The key in WMS_API_KEY is refused: it is wrong, has expired or was revoked. Make another one with create-api-key.ts.';
  if (isApiError(error, 'SCOPE_REQUIRED'))
    return 'The key in WMS_API_KEY may not do this. Make one with the scopes that it needs: create-api-key.ts.';
  if (isApiError(error, 'VALIDATION_FAILED') && error.issues.length > 0)
    return error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
  if (error.status >= 500) return `${error.message} (request ${error.requestId ?? 'without a name'})`;
  return error.message;
}

function fileSentenceOf({ code, path, message }: NodeJS.ErrnoException): string {
  if (path === undefined) return `${message}.`;
  if (code === 'ENOENT') return `There is no ${path}.`;
  if (code === 'EACCES' || code === 'EPERM') return `You may not read or write ${path}.`;
  return `${message}.`;
}

/** Failures of files and sockets say in their own words what is wrong. */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** Lines as people write them: `line 7`, `lines 2-1001, 1005`. */
export function linesOf(lines: readonly number[]): string {
  const sorted = lines.toSorted((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const line of sorted) {
    const last = ranges.at(-1);
    if (last && line === last[1] + 1) last[1] = line;
    else ranges.push([line, line]);
  }
  const texts = ranges.slice(0, rangesMax).map(([from, to]) => (from === to ? String(from) : `${from}-${to}`));
  const rest = ranges.length > rangesMax ? ` and ${count(ranges.length - rangesMax, 'more range')}` : '';
  return `${lines.length === 1 ? 'line' : 'lines'} ${texts.join(', ')}${rest}`;
}

const rangesMax = 20;

/** `1 row`, `2,500 rows`. */
export function count(howMany: number, what: string): string {
  return `${howMany.toLocaleString('en')} ${what}${howMany === 1 ? '' : 's'}`;
}

export type LineProblem = { line: number; problem: string };

/** Names each line with what is wrong with it, the first hundred of them. */
export function listProblems(problems: readonly LineProblem[]): string {
  const shown = problems.slice(0, problemsMax).map(({ line, problem }) => `line ${line}: ${plainLine(problem)}\n`);
  const more = problems.length > problemsMax ? `… and ${count(problems.length - problemsMax, 'more problem')}\n` : '';
  return shown.join('') + more;
}

const problemsMax = 100;
