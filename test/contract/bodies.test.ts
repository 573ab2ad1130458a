import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { errorOf, headersOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';
import { exchange, parseAnswer } from '../support/socket.ts';

const service = await startService();
const { anonymous, clock, url } = service;
const admin = await service.registerCompany();
const json = { 'content-type': 'application/json' };
const proof = headersOf(admin.pair);

const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

/** Sends a head that promises a body, and as much of the body as is given. */
async function begin(line: string, headers: Record<string, string>, body: string | Buffer = ''): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  await once(socket, 'connect');
  const head = Object.entries({ host: 'x', ...json, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${line} HTTP/1.1\r\n${head.join('')}\r\n`);
  socket.write(body);
  return socket;
}

/** The first piece of what is answered. */
async function answerOf(socket: Socket) {
  const [data] = (await once(socket, 'data')) as [Buffer];
  const answer = parseAnswer(String(data));
  return { ...answer, code: (JSON.parse(answer.body) as { code: string }).code };
}

describe('a body that is not all UTF-8', () => {
  const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  test.each([
    ['a lone continuation byte', [0x80]],
    ['Latin-1', [0xe9]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a character cut short', [0xf0, 0x9f, 0x92]],
  ])('is malformed, and nothing of it is stored: %s', async (_what, bad) => {
    const body = bytes('{"name":"Engine ', bad, '"}');
    for (const [path, code] of [
      ['/api/projects/', (said: { code: string }) => said.code],
      ['/trpc/projects.create', (said: { error: { data: { code: string } } }) => said.error.data.code],
    ] as const) {
      const response = await fetch(url + path, { method: 'POST', headers: { ...json, ...proof }, body });
      expect([response.status, code((await response.json()) as never)]).toEqual([400, 'MALFORMED_JSON']);
    }
    expect((await admin.get(`/api/projects/company/${admin.companyId}/`)).body.total).toBe(0);
  });

  test('is read whole where a character is cut between two packets', async () => {
    const body = Buffer.from(JSON.stringify({ name: 'Maschine für 漢字' }));
    const at = body.indexOf(0xc3) + 1;
    const head = { ...proof, 'content-length': String(body.length) };
    const socket = await begin('POST /api/projects/', head, body.subarray(0, at));
    // The service has taken the first half when it answers somebody else.
    await anonymous.get('/healthz');
    socket.write(body.subarray(at));
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(JSON.parse(parseAnswer(String(data)).body)).toMatchObject({ name: 'Maschine für 漢字' });
  });
});

describe('a body in another form', () => {
  const body = '{"name":"Engine"}';
  test.each([
    ['another charset', { 'content-type': 'application/json; charset=iso-8859-1' }, body],
    ['UTF-16', { 'content-type': 'application/json;charset="utf-16"' }, Buffer.from(body, 'utf16le')],
    ['gzip', { ...json, 'content-encoding': 'gzip' }, gzipSync(body)],
    ['Brotli', { ...json, 'content-encoding': 'br' }, Buffer.from('x')],
  ])('is refused as %s, over REST and tRPC', async (_what, headers, sent) => {
    for (const path of ['/api/projects/', '/trpc/projects.create']) {
      const response = await fetch(url + path, { method: 'POST', headers: { ...proof, ...headers }, body: sent });
      const said = (await response.json()) as { code?: string; error?: { data: { code: string } } };
      expect([response.status, said.code ?? said.error!.data.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    }
  });

  test.each(['application/json; charset=UTF-8', 'application/json; charset="utf-8"', 'Application/JSON;charset=utf8'])(
    'is taken as %s',
    async (type) => {
      const answer = await admin.post('/api/projects/', body, { headers: { 'content-type': type } });
      expect(answer.status).toBe(200);
    },
  );

  test('is taken where its encoding is none', async () => {
    const { status } = await admin.post('/api/projects/', body, {
      headers: { ...json, 'content-encoding': 'identity' },
    });
    expect(status).toBe(200);
  });
});

test.each([
  ['no body', '', 200],
  ['a body', '2\r\n{}\r\n', 415],
])('a request in chunks that has no media type and %s', async (_what, chunks, status) => {
  const { 'content-type': _, ...head } = { ...json, ...proof, 'transfer-encoding': 'chunked', connection: 'close' };
  const lines = Object.entries({ host: 'x', ...head }).map(([name, value]) => `${name}: ${value}\r\n`);
  const line = `POST /mark_notifications_as_read/${admin.employeeId}/ HTTP/1.1\r\n`;
  const answer = await exchange(url, `${line}${lines.join('')}\r\n${chunks}0\r\n\r\n`);
  expect(parseAnswer(answer).status).toBe(status);
});

describe('credentials are checked before a body is read', () => {
  const held = { 'content-length': '3900000' };
  const other = { authorization: 'Bearer wms_unknown' };
  test.each([
    ['none', {}, 'UNAUTHENTICATED'],
    ['a key that does not exist', other, 'INVALID_TOKEN'],
    ['a token that is none', { authorization: 'Bearer x.y.z' }, 'INVALID_TOKEN'],
    ['half a pair', { authorization: proof.authorization }, 'TOKEN_PAIR_REQUIRED'],
  ])('with %s the refusal comes before the body', async (_what, headers, code) => {
    const picture = `PATCH /employee/update-picture/${admin.employeeId}/`;
    expect(await answerOf(await begin(picture, { ...held, ...headers }, '{"profile'))).toMatchObject({
      status: 401,
      code,
    });
    const head = { ...json, ...headers, ...held };
    const socket = await begin('POST /trpc/employees.updatePicture', head, '{"profile');
    const [data] = (await once(socket, 'data')) as [Buffer];
    const { status, body } = parseAnswer(String(data));
    expect([status, JSON.parse(body).error.data.code]).toEqual([401, code]);
  });

  test('and a body that is asked for by Expect is not asked for', async () => {
    const picture = `PATCH /employee/update-picture/${admin.employeeId}/`;
    const refused = await begin(picture, { ...held, expect: '100-continue' });
    expect(await answerOf(refused)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });

    const body = '{"name":"Awaited"}';
    const head = { ...proof, 'content-length': String(body.length), expect: '100-continue' };
    const taken = await begin('POST /api/projects/', head);
    const [go] = (await once(taken, 'data')) as [Buffer];
    expect(String(go)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    taken.write(body);
    const [data] = (await once(taken, 'data')) as [Buffer];
    expect(parseAnswer(String(data)).status).toBe(200);
  });

  test('and again where the body took its time: a session that has ended by then changes nothing', async () => {
    const leaver = await service.signIn(admin.email);
    const body = '{"name":"Too late"}';
    const pair = headersOf(leaver.pair);
    const head = { ...pair, 'content-length': String(body.length), expect: '100-continue' };
    const socket = await begin('POST /api/projects/', head, body.slice(0, 5));
    await once(socket, 'data');
    expect((await leaver.post('/logout/')).status).toBe(200);
    socket.write(body.slice(5));
    expect(await answerOf(socket)).toMatchObject({ status: 401, code: 'SESSION_ENDED' });
  });

  test('and not again by their age: tokens that were good are good for the body behind them', async () => {
    const { pair } = await service.signIn(admin.email);
    clock.advance({ minutes: 16 });
    const body = '{"name":"In time"}';
    const own = headersOf(pair);
    const head = { ...own, 'content-length': String(body.length), expect: '100-continue' };
    const socket = await begin('POST /api/projects/', head, body.slice(0, 5));
    await once(socket, 'data');
    const { body: next } = await anonymous.post('/api/token/refresh/', { refresh_token: pair.refresh_token });
    clock.advance({ seconds: 11 });
    socket.write(body.slice(5));
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(parseAnswer(String(data)).status).toBe(200);
    expect((await service.as(next).get('/api/sessions/')).status).toBe(200);
  });
});

describe('a body over its limit', () => {
  test('of 8 MiB gets its 413 delivered, twenty times of twenty', async () => {
    const large = `{"name":"${'x'.repeat(8 * 1024 * 1024)}"}`;
    const answers: unknown[] = [];
    for (let time = 0; time < 20; time += 1) answers.push(errorOf(await admin.post('/api/projects/', large)));
    expect(answers).toEqual(Array.from({ length: 20 }, () => ({ status: 413, code: 'BODY_TOO_LARGE' })));
  });

  test('gets it on a connection that its caller wants closed, and in chunks', async () => {
    for (const isChunked of [false, true]) {
      const [name, length] = isChunked
        ? (['transfer-encoding', 'chunked'] as const)
        : (['content-length', '2000000'] as const);
      const socket = await begin('POST /api/projects/', { ...proof, connection: 'close', [name]: length });
      const piece = 'x'.repeat(100_000);
      for (let sent = 0; sent < 20; sent += 1)
        socket.write(isChunked ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece);
      if (isChunked) socket.write('0\r\n\r\n');
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      await once(socket, 'close');
      expect(parseAnswer(Buffer.concat(chunks).toString())).toMatchObject({ status: 413 });
    }
  });

  test('is dropped for so long and no longer', async () => {
    const socket = await begin('POST /api/projects/', { ...proof, 'content-length': '99000000000' });
    expect((await answerOf(socket)).status).toBe(413);
    const piece = Buffer.alloc(1024 * 1024, 'x');
    socket.on('error', () => {});
    while (!socket.destroyed)
      if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    expect(socket.bytesWritten).toBeLessThan(200 * 1024 * 1024);
  });
});

test('a body that comes to a stop is given up after ten seconds', async () => {
  const begun = performance.now();
  const stalled = [
    await begin('POST /login/', { 'content-length': '100' }, '{"email'),
    await begin('POST /trpc/auth.login', { 'content-length': '100' }, '{"email'),
    await begin('POST /api/projects/', { ...proof, 'transfer-encoding': 'chunked' }, '3\r\n{"n\r\n'),
  ];
  const answers = await Promise.all(
    stalled.map(async (socket) => {
      const [data] = (await once(socket, 'data')) as [Buffer];
      await once(socket, 'close');
      return parseAnswer(String(data));
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual([408, 408, 408]);
  for (const { body, headers } of answers) {
    expect(body).toContain('"code":"REQUEST_TIMEOUT"');
    expect(headers['connection']).toBe('close');
  }
  const seconds = (performance.now() - begun) / 1000;
  expect(seconds).toBeGreaterThan(9.9);
  expect(seconds).toBeLessThan(14);
});

describe('what is asked of HTTP that the service does not do', () => {
  test.each([
    [
      'Expect: 200-maybe',
      'POST /login/ HTTP/1.1\r\nHost: x\r\nExpect: 200-maybe\r\nContent-Length: 0',
      417,
      'EXPECTATION_FAILED',
    ],
    ['an unknown method', 'FOO /login/ HTTP/1.1\r\nHost: x', 400, 'MALFORMED_REQUEST'],
    ['a method for proxies', 'CONNECT x:443 HTTP/1.1\r\nHost: x', 400, 'MALFORMED_REQUEST'],
    ['QUERY', 'QUERY /login/ HTTP/1.1\r\nHost: x\r\nConnection: close', 405, 'METHOD_NOT_ALLOWED'],
    ['an unknown path with QUERY', 'QUERY /nope/ HTTP/1.1\r\nHost: x\r\nConnection: close', 404, 'ROUTE_NOT_FOUND'],
  ])('%s is refused with a problem document', async (_what, head, status, code) => {
    const answer = parseAnswer(await exchange(url, `${head}\r\n\r\n`));
    expect([answer.status, answer.headers['content-type']]).toEqual([
      status,
      expect.stringMatching(/^application\/problem\+json/),
    ]);
    expect(JSON.parse(answer.body)).toMatchObject({ code, status, requestId: answer.headers['x-request-id'] });
  });
});
