export type Answer = {
  status: number;
  headers: Headers;
  /** The JSON of the body, whatever it is: a test says what it expects. */
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
  text: string;
};

export type Pair = { access_token: string; refresh_token: string };
export type Headings = Record<string, string>;

/** Somebody who calls over HTTP. A body that is text goes out as it is, anything else as JSON. */
export type Caller = {
  send(method: string, path: string, body?: unknown, headers?: Headings): Promise<Answer>;
  get(path: string, headers?: Headings): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Headings): Promise<Answer>;
  put(path: string, body?: unknown, headers?: Headings): Promise<Answer>;
  patch(path: string, body?: unknown, headers?: Headings): Promise<Answer>;
  delete(path: string, body?: unknown, headers?: Headings): Promise<Answer>;
};

export const headersOf = (pair: Pair): Headings => ({
  authorization: `Bearer ${pair.access_token}`,
  'x-refresh-token': pair.refresh_token,
});

export const keyHeader = (key: string): Headings => ({ authorization: `Bearer ${key}` });

export function createCaller(url: string, credentials: Headings = {}): Caller {
  async function send(method: string, path: string, body?: unknown, headers: Headings = {}): Promise<Answer> {
    const type: Headings = body === undefined ? {} : { 'content-type': 'application/json' };
    const isReady = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...credentials, ...type, ...headers },
      ...(body === undefined ? {} : { body: isReady ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = text !== '' && /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text, text };
  }
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    put: (path, body, headers) => send('PUT', path, body, headers),
    patch: (path, body, headers) => send('PATCH', path, body, headers),
    delete: (path, body, headers) => send('DELETE', path, body, headers),
  };
}

/** An answer in a word to compare: `200`, `404 NOT_FOUND`, or `400 VALIDATION_FAILED name:required`. */
export function said({ status, headers, body, text }: Answer): string {
  if (status === 200) return '200';
  if (!(headers.get('content-type') ?? '').startsWith('application/problem+json'))
    return `${status} and no problem document: ${text.slice(0, 300)}`;
  const issues = ((body.issues ?? []) as { path: (string | number)[]; code: string }[]).map(
    ({ path, code }) => ` ${path.join('.')}:${code}`,
  );
  return `${status} ${body.code}${issues.join('')}`;
}

/** The body of an answer that must be a 200. */
export function got(answer: Answer): Answer['body'] {
  if (answer.status !== 200) throw new Error(`${said(answer)} ${answer.text.slice(0, 500)}`);
  return answer.body;
}
