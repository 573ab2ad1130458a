import { Fault, type FaultCode, type Issue } from './fault.ts';

export type Fetch = typeof globalThis.fetch;

export type Exchange = {
  /** For the fault, where it fails. */
  operation: string;
  url: string;
  method?: string;
  headers: Record<string, string>;
  body?: string | undefined;
  signal: AbortSignal;
};

/** Sends one request; answers the response to it where that is a success, else throws a fault. */
export async function exchange(
  fetch: Fetch,
  { operation, url, method = 'GET', headers, body, signal }: Exchange,
): Promise<Response> {
  const response = await orFault(
    operation,
    signal,
    // Another host that the service points to must never see the tokens.
    fetch(url, {
      method,
      headers,
      signal,
      redirect: 'error',
      credentials: 'omit',
      ...(body === undefined ? {} : { body }),
    }),
  );
  if (response.ok) return response;
  const text = await orFault(operation, signal, response.text());
  throw refusalOf(operation, response, parse(text));
}

/** What an operation answered over tRPC. */
export async function readAnswer(operation: string, response: Response, signal: AbortSignal): Promise<unknown> {
  const body = parse(await orFault(operation, signal, response.text())) as { result?: { data: unknown } } | undefined;
  if (!body?.result) throw unexpected(operation, response.status);
  return body.result.data;
}

/** A failure of the network as a fault; an abort stays what it is. */
export async function orFault<Value>(operation: string, signal: AbortSignal, promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new Fault(
      'NETWORK_ERROR',
      'The service could not be reached: check the connection and the baseUrl, and try again.',
      {
        status: 0,
        operation,
        cause,
      },
    );
  }
}

type Refusal = {
  code?: string;
  httpStatus?: number;
  requestId?: string;
  issues?: Issue[];
  retryAfterSeconds?: number;
};

/** A refusal as tRPC words it, `{error: {message, data}}`, in an answer or on a stream. */
export function faultOf(operation: string, refusal: unknown, response?: Response): Fault | undefined {
  const { message, data } = (refusal ?? {}) as { message?: string; data?: Refusal };
  if (data?.code === undefined || message === undefined) return undefined;
  return new Fault(data.code as FaultCode, message, {
    status: data.httpStatus ?? response?.status ?? 0,
    operation,
    issues: data.issues,
    requestId: data.requestId,
    retryAfterMs: waitOf(data.retryAfterSeconds ?? response?.headers.get('retry-after')),
  });
}

function refusalOf(operation: string, response: Response, body: unknown): Fault {
  const { error, code, detail, ...problem } = (body ?? {}) as { error?: unknown; detail?: string } & Refusal;
  return (
    faultOf(operation, error ?? { message: detail, data: { ...problem, code } }, response) ??
    unexpected(operation, response.status, waitOf(response.headers.get('retry-after')))
  );
}

function unexpected(operation: string, status: number, retryAfterMs?: number): Fault {
  const message = `What answered (${status}) is not the service: check the baseUrl, and any proxy between.`;
  return new Fault('UNEXPECTED_ANSWER', message, { status, operation, retryAfterMs });
}

function waitOf(seconds: number | string | null | undefined): number | undefined {
  const ms = Number(seconds ?? Number.NaN) * 1000;
  return Number.isFinite(ms) ? ms : undefined;
}

/** JSON, or undefined where it is none. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
