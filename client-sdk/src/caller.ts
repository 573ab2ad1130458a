import type { CallOptions, WithResponse, WriteOptions } from './call-types.ts';
import { exchange, infoOf, readAnswer, type Fetch } from './exchange.ts';
import { ApiError, isApiError, type ApiErrorDetails } from './api-error.ts';
import { randomKey } from './random-key.ts';
import type { ClientSession } from './client-session.ts';
import type { Sessions } from './sessions.ts';
import { backoffMs, limit, pause, unlessAborted } from './waiting.ts';

/** The headers that authenticate a call, and the session that they come from. */
export type Credentials = { headers: Record<string, string>; session: ClientSession | null };

export type Caller = {
  credentials(signal: AbortSignal): Promise<Credentials>;
  /** An authentication error with a message for the developer who configured the client. */
  explained(error: unknown): unknown;
  /** Sends a request once; its answer may be a stream. */
  open(sending: Sending, signal: AbortSignal): Promise<Response>;
  /**
   * Sends a request, with retries, until `read` returns, within the limits of the call. The time in which the request is
   * prepared counts too. An `unkeyed` one, whose retry could repeat its effect, is retried only if the service did nothing.
   */
  request<Answer>(
    operation: { name: string; isUnkeyed?: boolean },
    prepared: Promise<Sending>,
    options: CallOptions,
    read: (response: Response, signal: AbortSignal) => Promise<Answer>,
  ): Promise<WithResponse<Answer>>;
  /**
   * Calls an operation over tRPC; the words are its entry in the table of operations. A write carries an idempotency
   * key, so retries have no second effect.
   */
  call(
    operation: string,
    words: string,
    input: Promise<object | undefined>,
    options?: WriteOptions,
    credentials?: Credentials,
  ): Promise<WithResponse<unknown>>;
};

export type CallDefaults = Pick<CallOptions, 'timeoutMs' | 'tryTimeoutMs' | 'retries'>;

/** A request, and the credentials to send it with. */
export type Sending = {
  operation: string;
  url: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | undefined;
  /** Calls with this credential instead of the session. */
  credentials?: Credentials | undefined;
};

export const noCredentials: Credentials = { headers: {}, session: null };

/** Sends requests until they are answered: with retries if these are safe, and with fresh tokens if needed. */
export function createCaller(
  fetch: Fetch,
  baseUrl: string,
  { apiKey, ...defaults }: CallDefaults & { apiKey?: string | undefined },
  sessions: () => Sessions,
): Caller {
  async function currentCredentials(signal: AbortSignal): Promise<Credentials> {
    if (apiKey !== undefined) return { headers: bearer(apiKey), session: null };
    const session = await sessions().usable(signal);
    if (!session) return noCredentials;
    return { headers: { ...bearer(session.accessToken), 'x-refresh-token': session.refreshToken }, session };
  }

  function explained(error: unknown): unknown {
    if (isApiError(error, 'INVALID_TOKEN', 'UNAUTHENTICATED', 'SESSION_ENDED') && apiKey !== undefined)
      return reworded(error, keyRefused);
    return isApiError(error, 'UNAUTHENTICATED') && !sessions().current()
      ? nobodySignedIn(error.operation, error)
      : error;
  }

  async function send(
    { credentials: given, ...request }: Sending,
    signal: AbortSignal,
    checkSession: (id: string | undefined) => void = () => {},
  ): Promise<Response> {
    const attempt = async (credentials: Credentials): Promise<Response> => {
      const headers = { ...request.headers, ...credentials.headers };
      const response = await exchange(fetch, { ...request, headers, signal });
      const fresh = response.headers.get('x-access-token');
      if (fresh !== null && credentials.session) await sessions().takeAccessToken(fresh, credentials.session);
      return response;
    };
    const first = given ?? (await currentCredentials(signal));
    checkSession(first.session?.id);
    try {
      return await attempt(first);
    } catch (error) {
      const { session } = first;
      if (!isApiError(error) || !session || !(await sessions().recover(error, session, signal)))
        throw given ? error : explained(error);
      return attempt(await currentCredentials(signal));
    }
  }

  async function request<Answer>(
    { name: operation, isUnkeyed = false }: { name: string; isUnkeyed?: boolean },
    prepared: Promise<Sending>,
    options: CallOptions,
    read: (response: Response, signal: AbortSignal) => Promise<Answer>,
  ): Promise<WithResponse<Answer>> {
    const { signal, timeoutMs = 60_000, tryTimeoutMs = 20_000, retries = 3 } = { ...defaults, ...given(options) };
    const deadline = performance.now() + timeoutMs;
    let failure: unknown;
    let sentIn: { id: string | undefined } | undefined;
    /** An idempotency key belongs to a session, so a retry in another one could repeat the effect in another name. */
    function checkSession(id: string | undefined): void {
      if (sentIn && id !== sentIn.id) throw failure;
      sentIn = { id };
    }
    for (let failures = 1; ; failures += 1) {
      const leftMs = Math.min(tryTimeoutMs, deadline - performance.now());
      const tooLong = () =>
        new ApiError('TIMEOUT', `${operation} took longer than ${Math.ceil(leftMs)} ms.`, { status: 0, operation });
      const limited = limit(signal, leftMs, tooLong);
      try {
        const sending = await unlessAborted(prepared, limited.signal);
        const response = await send(sending, limited.signal, checkSession);
        return { data: await read(response, limited.signal), response: infoOf(response) };
      } catch (error) {
        if (error === failure) throw error;
        failure = error;
        const waitMs = retryAfter(error, failures, isUnkeyed);
        if (waitMs === undefined || failures > retries || performance.now() + waitMs >= deadline) throw error;
        limited.release();
        await pause(waitMs, signal);
      } finally {
        limited.release();
      }
    }
  }

  return {
    credentials: currentCredentials,
    explained,
    open: send,
    request,
    async call(operation, words, input, { idempotencyKey, ...options } = {}, credentials) {
      const isUnkeyed = words.includes('unkeyed');
      const key = isUnkeyed ? undefined : (idempotencyKey ?? randomKey());
      const prepared = input.then((given) => ({ ...callRequest(baseUrl, operation, words, given, key), credentials }));
      return request({ name: operation, isUnkeyed }, prepared, options, (response, signal) =>
        readAnswer(operation, response, signal),
      );
    },
  };
}

/** The request of an operation over tRPC. */
function callRequest(
  baseUrl: string,
  operation: string,
  words: string,
  input: unknown,
  idempotencyKey: string | undefined,
): Sending {
  const json = input === undefined ? undefined : JSON.stringify(input);
  const url = `${baseUrl}/trpc/${operation}`;
  if (!words.includes('mutation'))
    return { operation, url: json === undefined ? url : `${url}?input=${encodeURIComponent(json)}` };
  const headers = {
    'content-type': 'application/json',
    ...(idempotencyKey !== undefined && { 'idempotency-key': keyHeader(idempotencyKey) }),
  };
  return { operation, url, method: 'POST', headers, body: json };
}

/** A key as a header can carry it. The service takes a blank one for none, so a retry could repeat the effect. */
function keyHeader(key: string): string {
  if (key.trim() === '') throw new TypeError('The idempotencyKey is blank: give another or none.');
  return key.replaceAll(/[^ -~\u00a0-\u00ff]/gu, encodeURIComponent);
}

/** The error of a call that needs a session while there is none; the service's answer to it, if it was asked. */
export function nobodySignedIn(operation: string, answer: Partial<ApiErrorDetails> = {}): ApiError {
  const message = 'Nobody is signed in: sign in first (client.auth.login), or create the client with an apiKey.';
  return new ApiError('UNAUTHENTICATED', message, { status: 401, ...answer, operation });
}

const keyRefused = 'The API key is refused: it is wrong, expired or revoked.';

const reworded = (error: ApiError, message: string): ApiError => new ApiError(error.code, message, error);

/** Authenticates by one token. */
export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Undefined options do not override the defaults. */
function given(options: CallOptions): CallOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** The delay before a retry; undefined if a retry would not help. */
function retryAfter(error: unknown, failures: number, isUnkeyed: boolean): number | undefined {
  if (!isApiError(error)) return undefined;
  const isRefused = error.status === 429 || error.status === 503;
  const isLost =
    isApiError(error, 'NETWORK_ERROR', 'TIMEOUT', 'IDEMPOTENCY_KEY_IN_USE') ||
    error.status === 502 ||
    error.status === 504;
  const passes = isRefused || (isLost && !isUnkeyed);
  return passes ? Math.max(error.retryAfterMs ?? 0, backoffMs(failures)) : undefined;
}
