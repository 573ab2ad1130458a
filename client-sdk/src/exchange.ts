import { ApiError, type ApiErrorCode, type Issue } from './api-error.ts';
import type { ResponseInfo } from './call-types.ts';
import type { ApiKeyScope } from './contract.ts';
import { connectionLost } from './transport.ts';
import { limit, unlessAborted } from './waiting.ts';

export type Fetch = typeof globalThis.fetch;

export type Exchange = {
  /** The operation, for its error. */
  operation: string;
  url: string;
  method?: string;
  headers: Record<string, string>;
  body?: string | undefined;
  signal: AbortSignal;
};

/** Sends one request; returns a successful response, else throws an API error. */
export async function exchange(
  fetch: Fetch,
  { operation, url, method = 'GET', headers, body, signal }: Exchange,
): Promise<Response> {
  const response = await orApiError(
    operation,
    signal,
    // Another host that the service points to must never see the tokens.
    fetch(url, {
      method,
      headers,
      signal,
      redirect: 'error',
      credentials: 'omit',
      body: body ?? null,
    }),
    (cause) =>
      `No answer from ${new URL(url).origin}${reasonOf(cause as Error)}: check that the service runs there, the baseUrl and the network.`,
  );
  if (response.ok) return response;
  const text = await orApiError(operation, signal, response.text());
  throw toErrorOf(operation, response, parse(text));
}

/** Reads the answer of an operation over tRPC. */
export async function readAnswer(operation: string, response: Response, signal: AbortSignal): Promise<unknown> {
  const body = parse(await orApiError(operation, signal, response.text())) as
    | { result?: { data: unknown } }
    | undefined;
  if (!body?.result) throw unexpected(operation, response);
  return body.result.data;
}

/** What callers may know of a response. */
export function infoOf({ status, headers: received }: Response): ResponseInfo {
  const headers = new Headers(received);
  // Of interest to the client only, and a secret in the logs of others.
  headers.delete('x-access-token');
  const count = (name: string): number => Number(headers.get(`ratelimit-${name}`));
  const isLimited = headers.has('ratelimit-limit');
  return {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    rateLimit: isLimited
      ? { limit: count('limit'), remaining: count('remaining'), resetMs: count('reset') * 1000 }
      : undefined,
    isReplayed: headers.get('idempotency-replayed') === 'true',
    headers,
  };
}

/** A failure of the network as an API error; an abort stays what it is, and a `fetch` that ignores it is not waited for. */
async function orApiError<Value>(
  operation: string,
  signal: AbortSignal,
  promise: Promise<Value>,
  wordsFor: (cause: unknown) => string = () => 'The answer broke off before its end: try again.',
): Promise<Value> {
  try {
    return await unlessAborted(promise, signal);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new ApiError('NETWORK_ERROR', wordsFor(cause), { status: 0, operation, cause });
  }
}

/** Reads the next piece of a body; after a long silence the connection is lost. */
export async function readPiece<Value>(
  operation: string,
  reader: { read(): Promise<Value> },
  signal: AbortSignal | undefined,
  silenceMs: number,
): Promise<Value> {
  const limited = limit(signal, silenceMs, () => connectionLost(operation));
  return orApiError(operation, limited.signal, reader.read()).finally(limited.release);
}

/** Why a connection failed, if the platform tells: ` (ECONNREFUSED)`. Browsers do not. */
function reasonOf(error: Error): string {
  const { code, message } = (error.cause ?? {}) as { code?: unknown; message?: unknown };
  const reason = code ?? message;
  return typeof reason === 'string' && reason !== '' ? ` (${reason})` : '';
}

type ErrorData = {
  code?: string;
  httpStatus?: number;
  requestId?: string;
  issues?: Issue[];
  missingScopes?: ApiKeyScope[];
  retryAfterSeconds?: number;
};

/** Converts an error in tRPC's form, `{error: {message, data}}`, in an answer or on a stream. */
export function toApiError(operation: string, error: unknown, response?: Response): ApiError | undefined {
  const { message, data } = (error ?? {}) as { message?: string; data?: ErrorData };
  if (data?.code === undefined || message === undefined) return undefined;
  return new ApiError(data.code as ApiErrorCode, message, {
    status: data.httpStatus ?? response?.status ?? 0,
    operation,
    issues: data.issues,
    missingScopes: data.missingScopes,
    requestId: data.requestId,
    retryAfterMs: waitOf(data.retryAfterSeconds ?? response?.headers.get('retry-after')),
  });
}

function toErrorOf(operation: string, response: Response, body: unknown): ApiError {
  const { error, code, detail, ...problem } = (body ?? {}) as { error?: unknown; detail?: string } & ErrorData;
  return (
    toApiError(operation, error ?? { message: detail, data: { ...problem, code } }, response) ??
    unexpected(operation, response)
  );
}

/** The error for an answer that is not the service's. */
export function unexpected(operation: string, { url, status, headers }: Response): ApiError {
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  const what = [status, type].filter((part) => part !== '').join(', ');
  // A custom `fetch` may return a response without a URL.
  const place = URL.canParse(url) ? `What answers at ${new URL(url).origin}` : 'What answers';
  const message = `${place} (${what}) is not the service: check the baseUrl, its port, and any proxy between.`;
  return new ApiError('UNEXPECTED_ANSWER', message, {
    status,
    operation,
    retryAfterMs: waitOf(headers.get('retry-after')),
  });
}

/** The wait in seconds, or until a time of day, which proxies give. */
function waitOf(given: number | string | null | undefined): number | undefined {
  const seconds = Number(given ?? Number.NaN);
  const ms = seconds >= 0 ? seconds * 1000 : Math.max(0, Date.parse(String(given)) - Date.now());
  return Number.isFinite(ms) ? ms : undefined;
}

/** Parses JSON; undefined if it is invalid. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
