import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client';
import type { AppRouter } from '../../server/router.ts';

export type Answer = {
  status: number;
  headers: Headers;
  /** The JSON of the body, whatever it is: a test says what it expects. */
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
};

export type SendOptions = { headers?: Record<string, string> };

/** Somebody who calls the service over HTTP, with a session or without one. */
export type Caller = {
  send(method: string, path: string, body?: unknown, options?: SendOptions): Promise<Answer>;
  get(path: string, options?: SendOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: SendOptions): Promise<Answer>;
  put(path: string, body?: unknown, options?: SendOptions): Promise<Answer>;
  patch(path: string, body?: unknown, options?: SendOptions): Promise<Answer>;
  delete(path: string, body?: unknown, options?: SendOptions): Promise<Answer>;
  /** The same service through tRPC. */
  trpc: TRPCClient<AppRouter>;
};

export type TokenPair = { access_token: string; refresh_token: string };

/** An employee with a session. */
export type Actor = Caller & { employeeId: number; companyId: number; email: string; name: string; pair: TokenPair };

export const headersOf = ({ access_token: access, refresh_token: refresh }: TokenPair) => ({
  authorization: `Bearer ${access}`,
  'x-refresh-token': refresh,
});

export const createCaller = (baseUrl: string, pair?: TokenPair): Caller =>
  createCallerWith(baseUrl, pair ? headersOf(pair) : {});

/** Somebody who sends these headers with each call. */
export function createCallerWith(baseUrl: string, own: Record<string, string>): Caller {
  async function send(
    method: string,
    path: string,
    body?: unknown,
    { headers = {} }: SendOptions = {},
  ): Promise<Answer> {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...own, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    // An answer to HEAD has no body, whatever its type.
    const isJson = text !== '' && /json(;|$)/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  return {
    send,
    get: (path, options) => send('GET', path, undefined, options),
    post: (path, body, options) => send('POST', path, body, options),
    put: (path, body, options) => send('PUT', path, body, options),
    patch: (path, body, options) => send('PATCH', path, body, options),
    delete: (path, body, options) => send('DELETE', path, body, options),
    trpc: createTRPCClient<AppRouter>({ links: [httpLink({ url: `${baseUrl}/trpc`, headers: () => own })] }),
  };
}

/** An error in a comparable form: status, code, and the paths of its issues if it has any. */
export function errorOf({ status, headers, body }: Answer): { status: number; code: string; issues?: string[] } {
  if (headers.get('content-type')?.startsWith('application/problem+json') !== true) {
    throw new Error(`not a problem document: ${status} ${JSON.stringify(body)}`);
  }
  const issues = (body.issues as { path: (string | number)[] }[] | undefined)?.map((issue) => issue.path.join('.'));
  return { status, code: body.code, ...(issues === undefined ? {} : { issues }) };
}
