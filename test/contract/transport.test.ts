import { describe, expect, test } from 'vitest';
import { errorOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';
import { exchange, parseAnswer } from '../support/socket.ts';

const service = await startService({ settings: { corsOrigins: ['https://app.example.test'] } });
const { anonymous, url } = service;
const admin = await service.registerCompany();

describe('bytes that are no request', () => {
  test.each([
    ['words', 'hello there\r\n\r\n'],
    ['a TLS hello', Buffer.from('16030100a5010000a10303', 'hex')],
    ['a wrong version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a method in small letters', 'get /healthz HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET /healthz HTTP/1.1\r\nHost x\r\n\r\n'],
    ['a control character in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\u0001b\r\n\r\n'],
    ['a length that is no number', 'POST /login/ HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n'],
    ['two lengths', 'POST /login/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length beside chunks',
      'POST /login/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a chunk of no size', 'POST /login/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['headers of 64 KiB', `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(65_536)}\r\n\r\n`],
    ['a URL of 64 KiB', `GET /${'a'.repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ])('get a problem document and the end of the connection: %s', async (_name, bytes) => {
    const { status, headers, body } = parseAnswer(await exchange(url, bytes));
    expect(status).toBe(400);
    expect(headers).toMatchObject({ connection: 'close', 'x-request-id': expect.any(String) });
    expect(headers['content-type']).toMatch('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ code: 'MALFORMED_REQUEST', requestId: headers['x-request-id'] });
    expect((await anonymous.get('/healthz')).status).toBe(200);
  });
});

describe('X-Request-Id', () => {
  test.each(['abc-123', '0b9f2f0e-6f0c-4c53-9b6c-1d3c3a6f8f11', 'a:b.c_d'])('is taken over: %s', async (id) => {
    const { headers, body } = await anonymous.get('/nope/', { headers: { 'x-request-id': id } });
    expect([headers.get('x-request-id'), body.requestId]).toEqual([id, id]);
    expect(service.log()).toContain(`"requestId":"${id}"`);
  });

  test.each(['', 'a b', 'x'.repeat(129), 'ü', '"}', '<script>'])('is replaced where it is %j', async (id) => {
    const { headers } = await anonymous.get('/healthz', { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('every answer', () => {
  test.each(['/healthz', '/nope/', '/api/sessions/', '/docs', '/openapi.json', '/trpc/nope'])(
    'of %s tells a browser to load nothing else and to guess no type',
    async (path) => {
      const { headers } = await anonymous.get(path);
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('server')).toBeNull();
    },
  );

  test('about somebody is kept by no cache', async () => {
    for (const path of ['/api/sessions/', `/employee/me/${admin.employeeId}/`, '/employee/me/1/', '/nope/'])
      expect((await admin.get(path)).headers.get('cache-control')).toBe('no-store');
    expect((await admin.get('/trpc/sessions.list')).headers.get('cache-control')).toBe('no-store');
  });

  test('to HEAD has the headers of GET and no body', async () => {
    for (const path of ['/api/sessions/', '/openapi.json', '/healthz', '/docs']) {
      const get = await admin.get(path);
      const head = await admin.send('HEAD', path);
      expect([head.status, head.body, head.headers.get('content-type')]).toEqual([
        200,
        '',
        get.headers.get('content-type'),
      ]);
    }
    const missing = await fetch(`${url}/nope/`, { method: 'HEAD' });
    expect([missing.status, await missing.text()]).toEqual([404, '']);
  });
});

describe('a browser', () => {
  const preflight = (path: string, origin: string) =>
    anonymous.send('OPTIONS', path, undefined, {
      headers: {
        origin: origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers':
          'authorization,x-refresh-token,idempotency-key,x-request-id,content-type,trpc-accept,mcp-protocol-version',
      },
    });

  test.each(['/login/', '/api/employees/1/', '/trpc/auth.login', '/healthz'])(
    'of a known origin may call %s',
    async (path) => {
      const { status, headers } = await preflight(path, 'https://app.example.test');
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe('https://app.example.test');
      const allowed = headers.get('access-control-allow-headers')!.toLowerCase().split(', ');
      for (const name of [
        'authorization',
        'x-refresh-token',
        'idempotency-key',
        'x-request-id',
        'content-type',
        'trpc-accept',
        'mcp-protocol-version',
      ])
        expect(allowed).toContain(name);
      expect(headers.get('access-control-allow-methods')).toContain('PATCH');
    },
  );

  test('may ask for what does not exist, and reads that it does not', async () => {
    const origin = 'https://app.example.test';
    expect((await preflight('/nope/', origin)).headers.get('access-control-allow-origin')).toBe(origin);
    for (const headers of [{}, { origin } as Record<string, string>])
      expect(errorOf(await anonymous.send('OPTIONS', '/nope/', undefined, { headers }))).toEqual({
        status: 404,
        code: 'ROUTE_NOT_FOUND',
      });
  });

  test('of another origin is told nothing', async () => {
    const { headers } = await preflight('/login/', 'https://evil.example.test');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('vary')).toContain('Origin');
  });

  test('can read refusals and the headers that matter', async () => {
    const origin = { headers: { origin: 'https://app.example.test' } };
    for (const path of ['/nope/', '/api/sessions/', '/employee/me/x/']) {
      const { headers } = await anonymous.get(path, origin);
      expect(headers.get('access-control-allow-origin')).toBe('https://app.example.test');
      const exposed = headers.get('access-control-expose-headers')!.split(', ');
      for (const name of [
        'X-Request-Id',
        'X-Access-Token',
        'Retry-After',
        'RateLimit-Remaining',
        'Idempotency-Replayed',
        'WWW-Authenticate',
        'Content-Disposition',
      ])
        expect(exposed).toContain(name);
    }
  });
});

test('a browser can read what is refused before anybody is asked for', async () => {
  for (const bytes of [
    'GET /employee/me/%zz/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(65_536)}\r\n\r\n`,
  ]) {
    const { status, headers } = parseAnswer(await exchange(url, bytes));
    expect([status, headers['access-control-allow-origin']]).toEqual([400, '*']);
  }
});

test('/ leads to the reference', async () => {
  const { status, headers } = await anonymous.get('/');
  expect([status, new URL(headers.get('location')!, `${url}/`).pathname]).toEqual([302, '/docs']);
});

test('a stream of events without a good proof is refused before it begins', async () => {
  const wrong = { authorization: 'Bearer x.y.z', 'x-refresh-token': 'x' };
  for (const headers of [{}, wrong, { authorization: `Bearer ${admin.pair.access_token}` }])
    for (const path of ['notifications.onMine', 'comments.onTask?input=%7B%22taskId%22%3A1%7D']) {
      const accept = { accept: 'text/event-stream', ...headers } as Record<string, string>;
      const { status, headers: told, body } = await anonymous.get(`/trpc/${path}`, { headers: accept });
      expect([status, told.get('content-type'), told.get('www-authenticate')]).toEqual([
        401,
        expect.stringMatching('application/json'),
        'Bearer',
      ]);
      expect(body.error.data).toMatchObject({ httpStatus: 401, requestId: told.get('x-request-id') });
    }
});

describe('requests beyond the limit', () => {
  test('are refused with 429 and Retry-After, both spellings of a path counted as one', async () => {
    const limited = await startService({ requestsPerMinute: 5 });
    const ada = await limited.registerCompany();
    const grace = await limited.registerCompany({ name: 'Compilers' });
    for (const [used, path] of ['/api/sessions/', '/api/sessions', '/api/sessions/', '/api/sessions'].entries()) {
      const { status, headers } = await ada.get(path);
      expect([status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([
        200,
        '5',
        String(4 - used),
      ]);
      expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThan(0);
    }
    // tRPC serves the same operation.
    await ada.trpc.sessions.list.query();
    for (const path of ['/api/sessions/', '/api/sessions']) {
      const answer = await ada.get(path);
      expect(errorOf(answer)).toEqual({ status: 429, code: 'RATE_LIMITED' });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.headers.get('ratelimit-remaining')).toBe('0');
      expect(Number(answer.headers.get('ratelimit-reset'))).toBeGreaterThan(0);
    }
    await expect(ada.trpc.sessions.list.query()).rejects.toMatchObject({ data: { code: 'RATE_LIMITED' } });
    expect((await ada.get(`/employee/me/${ada.employeeId}/`)).status).toBe(200);
    expect((await grace.get('/api/sessions/')).status).toBe(200);
  });
});

describe('a media type without any body, not even an empty one', () => {
  test.each([
    ['POST', '/logout/', 401],
    ['DELETE', '/api/sessions/1/', 401],
    ['PATCH', '/api/tasks/1/', 401],
    ['POST', '/login/', 400],
    ['POST', '/trpc/auth.logout', 401],
    ['POST', '/nowhere/', 404],
  ])('%s %s is answered at once', async (method, path, status) => {
    const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n`;
    expect(parseAnswer(await exchange(service.url, head)).status).toBe(status);
  });
});
