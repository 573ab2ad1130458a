import type { CallOptions, WriteOptions } from './call-types.ts';
import { exchange, readAnswer, type Fetch } from './exchange.ts';
import { Fault, isFault } from './fault.ts';
import { randomKey } from './random-key.ts';
import type { ClientSession } from './client-session.ts';
import type { Sessions } from './sessions.ts';
import { backoffMs, limit, pause } from './waiting.ts';

/** Who is calling: the headers that say so, and the session that they come from. */
export type Proof = { headers: Record<string, string>; session: ClientSession | null };

export type Caller = {
  proofOf(signal: AbortSignal): Promise<Proof>;
  /** Sends a request once; its answer may last. */
  open(sending: Sending, signal: AbortSignal): Promise<Response>;
  /** Sends a request until `read` has what it wants of an answer, within the limits of the call. */
  request<Answer>(
    sending: Sending,
    options: CallOptions,
    read: (response: Response, signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer>;
  /** Calls an operation over tRPC; a write carries a key by which it happens once, however often it is tried. */
  call(
    operation: string,
    kind: 'query' | 'mutation',
    input: unknown,
    options?: WriteOptions,
    proof?: Proof,
  ): Promise<unknown>;
};

export type CallDefaults = Pick<CallOptions, 'timeoutMs' | 'tryTimeoutMs' | 'retries'>;

/** What is sent, and with whose proof. */
export type Sending = {
  operation: string;
  url: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | undefined;
  /** Calls for whoever this is, rather than for the session. */
  proof?: Proof;
};

export const noProof: Proof = { headers: {}, session: null };

/** Sends requests until they are answered: again where that is safe, with fresh tokens where they are needed. */
export function createCaller(
  fetch: Fetch,
  baseUrl: string,
  { apiKey, ...defaults }: CallDefaults & { apiKey?: string | undefined },
  sessions: () => Sessions,
): Caller {
  async function proofOf(signal: AbortSignal): Promise<Proof> {
    if (apiKey !== undefined) return { headers: bearer(apiKey), session: null };
    const session = await sessions().usable(signal);
    if (!session) return noProof;
    return { headers: { ...bearer(session.accessToken), 'x-refresh-token': session.refreshToken }, session };
  }

  async function send({ proof: given, ...request }: Sending, signal: AbortSignal): Promise<Response> {
    const attempt = async (proof: Proof): Promise<Response> => {
      const headers = { ...request.headers, ...proof.headers };
      const response = await exchange(fetch, { ...request, headers, signal });
      const fresh = response.headers.get('x-access-token');
      if (fresh !== null && proof.session) await sessions().takeAccessToken(fresh, proof.session);
      return response;
    };
    const proof = given ?? (await proofOf(signal));
    try {
      return await attempt(proof);
    } catch (error) {
      const { session } = proof;
      if (!isFault(error) || !session || !(await sessions().recover(error, session, signal))) throw error;
      return attempt(await proofOf(signal));
    }
  }

  async function request<Answer>(
    sending: Sending,
    options: CallOptions,
    read: (response: Response, signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const { operation } = sending;
    const { signal, timeoutMs = 60_000, tryTimeoutMs = 20_000, retries = 3 } = { ...defaults, ...given(options) };
    const deadline = Date.now() + timeoutMs;
    for (let failures = 1; ; failures += 1) {
      const leftMs = Math.min(tryTimeoutMs, deadline - Date.now());
      const tooLong = () =>
        new Fault('TIMEOUT', `${operation} took longer than ${Math.ceil(leftMs)} ms.`, { status: 0, operation });
      const limited = limit(signal, leftMs, tooLong);
      try {
        limited.signal.throwIfAborted();
        return await read(await send(sending, limited.signal), limited.signal);
      } catch (error) {
        const waitMs = retryAfter(error, failures);
        if (waitMs === undefined || failures > retries || Date.now() + waitMs >= deadline) throw error;
        limited.release();
        await pause(waitMs, signal);
      } finally {
        limited.release();
      }
    }
  }

  return {
    proofOf,
    open: send,
    request,
    async call(operation, kind, input, { idempotencyKey, ...options } = {}, proof) {
      const json = input === undefined ? undefined : JSON.stringify(input);
      const isWrite = kind === 'mutation';
      const query = isWrite || json === undefined ? '' : `?input=${encodeURIComponent(json)}`;
      const sending: Sending = {
        operation,
        url: `${baseUrl}/trpc/${operation}${query}`,
        ...(proof === undefined ? {} : { proof }),
        ...(isWrite
          ? {
              method: 'POST',
              headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey ?? randomKey() },
              body: json,
            }
          : {}),
      };
      return request(sending, options, (response, signal) => readAnswer(operation, response, signal));
    },
  };
}

/** Says who is calling by a token alone. */
export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Options that were left undefined leave the defaults as they are. */
function given(options: CallOptions): CallOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** How long to wait before trying again; undefined where that would not help. */
function retryAfter(error: unknown, failures: number): number | undefined {
  if (!isFault(error)) return undefined;
  const passes =
    isFault(error, 'NETWORK_ERROR', 'TIMEOUT', 'RATE_LIMITED', 'IDEMPOTENCY_KEY_IN_USE') ||
    [502, 503, 504, 429].includes(error.status);
  return passes ? Math.max(error.retryAfterMs ?? 0, backoffMs(failures)) : undefined;
}
