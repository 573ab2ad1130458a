import { randomBytes } from 'node:crypto';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createShell } from '../../server/surfaces/http/app-shell.ts';
import { sendPieces } from '../../server/surfaces/http/send-download.ts';
import { operationsOf } from '../../server/kernel/operations.ts';
import { registerRest } from '../../server/surfaces/rest/rest.ts';
import { registerTrpc } from '../../server/surfaces/trpc/trpc.ts';
import { isCompressible, type OperationMeta } from '../../server/kernel/operation.ts';
import { createLogger } from '../../server/platform/log.ts';
import { appRouter } from '../../server/router.ts';
import { password, startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { headersOf } from '../support/actor.ts';

const service = await startService({ settings: { hasDemoPage: true, corsOrigins: ['https://app.example.test'] } });
const admin = await service.registerCompany();
const proof = headersOf(admin.pair);
const list = `/employee/list/${admin.companyId}/`;
const overTrpc = `/trpc/employees.list?input=${encodeURIComponent(JSON.stringify({ company_id: admin.companyId }))}`;

beforeAll(async () => {
  for (let count = 0; count < 5; count += 1)
    await admin.post('/employee/add/', {
      first_name: 'Grace',
      last_name: `Hopper${count}`,
      email: `grace${count}@example.com`,
      companyId: admin.companyId,
    });
});

const demoScript = `/demo/${/assets\/[^"]+\.js/.exec((await service.anonymous.get('/demo/')).body as string)![0]}`;

type Answer = { status: number; headers: IncomingHttpHeaders; bytes: Buffer };

/** As it comes over the network: `fetch` would ask for an encoding of its own and undo it. */
function ask(
  path: string,
  headers: Record<string, string> = {},
  { url = service.url, method = 'GET', body = '' } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}${path}`, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode!, headers: answer.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const shells: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(shells.map((shell) => shell.close())));

const unpack: Record<string, (bytes: Buffer) => Buffer> = { gzip: gunzipSync, br: brotliDecompressSync };
const varies = ({ headers }: Answer): boolean => /accept-encoding/i.test(headers.vary ?? '');

describe.each(['gzip', 'br'])('%s', (encoding) => {
  const accept = { 'accept-encoding': encoding };
  const pages = ['/openapi.json', '/asyncapi.json', '/docs/errors', '/docs/errors/', '/docs/errors/NOT_FOUND'];
  const assets = ['/docs/assets/swagger-ui-bundle.js', '/docs/assets/page.css', demoScript];

  test.each([...pages, ...assets])(
    'of %s is smaller and the same, and is not sent again to a client that has it',
    async (path) => {
      const plain = await ask(path);
      const packed = await ask(path, accept);
      expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([undefined, encoding]);
      expect(unpack[encoding]!(packed.bytes)).toEqual(plain.bytes);
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length * 0.75);
      expect([varies(plain), varies(packed)]).toEqual([true, true]);
      expect(packed.headers['content-type']).toBe(plain.headers['content-type']);
      const { etag } = packed.headers;
      expect(etag).toMatch(/^W\/"[\w-]{20,}"$/);
      expect(plain.headers.etag).toBe(etag);
      for (const known of [etag!, etag!.slice(2), `"other", ${etag}`, '*'])
        expect((await ask(path, { ...accept, 'if-none-match': known })).status).toBe(304);
      expect((await ask(path, { ...accept, 'if-none-match': 'W/"other"' })).status).toBe(200);
    },
  );

  test.each([
    ['REST', list],
    ['tRPC', overTrpc],
  ])('of a long JSON answer is smaller and the same, over %s', async (_surface, path) => {
    const plain = await ask(path, proof);
    const packed = await ask(path, { ...proof, ...accept });
    expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([undefined, encoding]);
    expect(unpack[encoding]!(packed.bytes)).toEqual(plain.bytes);
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
    expect(packed.headers['content-type']).toBe(plain.headers['content-type']);
    expect([varies(plain), varies(packed)]).toEqual([true, true]);
  });

  test('is announced to HEAD', async () => {
    for (const path of [list, '/openapi.json']) {
      const { headers, bytes } = await ask(path, { ...proof, ...accept }, { method: 'HEAD' });
      expect([headers['content-encoding'], bytes.length]).toEqual([encoding, 0]);
    }
  });

  test.each([
    [
      'after its first piece, is a refusal as long as nothing was sent',
      1,
      [500, 'application/problem+json; charset=utf-8', undefined],
    ],
    ['late, is cut off', 100, 'ECONNRESET'],
  ])('of an answer that fails %s', async (_when, count, expected) => {
    const { server } = await createShell({
      logger: createLogger({ level: 'silent' }),
      trustProxy: false,
      corsOrigins: [],
    });
    shells.push(server);
    async function* pieces() {
      for (let made = 0; made < count; made += 1) yield randomBytes(100_000).toString('base64');
      throw new Error('broken');
    }
    server.get('/broken', (request, reply) => {
      request.mayCompress = true;
      void sendPieces(reply, pieces());
    });
    const url = await server.listen({ port: 0, host: '127.0.0.1' });
    const outcome = await ask('/broken', accept, { url }).then(
      (answer) => [answer.status, answer.headers['content-type'], answer.headers['content-encoding']],
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(outcome).toEqual(expected);
  });

  test('of an answer that is sent piece by piece is whole', async () => {
    const { projectId } = await startWork(admin);
    const taskId = await addTask(admin, projectId);
    for (let count = 0; count < 40; count += 1)
      await admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message: 'y'.repeat(60_000) });
    const paths = [
      `/api/tasks/chat/${taskId}/`,
      `/trpc/comments.listByTask?input=${encodeURIComponent(JSON.stringify({ task_id: taskId }))}`,
    ];
    for (const path of paths) {
      const plain = await ask(path, proof);
      const packed = await ask(path, { ...proof, ...accept });
      expect(plain.bytes.length).toBeGreaterThan(2_000_000);
      expect(packed.headers['content-encoding']).toBe(encoding);
      expect(packed.bytes.length).toBeLessThan(100_000);
      expect(unpack[encoding]!(packed.bytes).length).toBe(plain.bytes.length);
    }
  });
});

describe('an answer is sent as it is', () => {
  test('where it is short, refused, or another method’s', async () => {
    const accept = { ...proof, 'accept-encoding': 'gzip, br' };
    const missing = await ask('/employee/me/999999/', accept);
    expect(missing.headers['content-encoding']).toBeUndefined();
    const short = await ask('/api/invitations/', accept);
    expect([short.status, short.headers['content-encoding'], varies(short)]).toEqual([200, undefined, true]);
    const body = JSON.stringify({ name: 'Engine', description: 'z'.repeat(5_000) });
    const json = { 'content-type': 'application/json' };
    const written = await ask('/api/projects/', { ...accept, ...json }, { method: 'POST', body });
    expect([written.status, written.headers['content-encoding']]).toEqual([200, undefined]);
  });

  test.each([
    undefined,
    '',
    'identity',
    'gzip;q=0, br;q=0',
    'br;q=0, *',
    '*',
    'identity, gzip;q=0.5',
    'zstd',
    'deflate',
  ])('where the caller wants it so: %s', async (accept) => {
    const headers: Record<string, string> = accept === undefined ? {} : { 'accept-encoding': accept };
    for (const path of [list, '/openapi.json'])
      expect((await ask(path, { ...proof, ...headers })).headers['content-encoding']).toBeUndefined();
  });

  test('where it is a picture or a font, which are compressed already', async () => {
    const font = await ask('/docs/assets/figtree.woff2', { 'accept-encoding': 'gzip, br' });
    expect([font.status, font.headers['content-encoding']]).toEqual([200, undefined]);
  });

  test('where it is a stream of events', async () => {
    const headers = { ...proof, accept: 'text/event-stream', 'accept-encoding': 'gzip, br' };
    const told = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
      const sent = httpRequest(`${service.url}/trpc/notifications.onMine`, { headers }, (answer) => {
        resolve(answer.headers);
        sent.destroy();
      });
      sent.on('error', reject).end();
    });
    expect(told['content-type']).toBe('text/event-stream');
    expect(told['content-encoding']).toBeUndefined();
  });
});

test('a page of another origin may still be told apart', async () => {
  const headers = { ...proof, origin: 'https://app.example.test', 'accept-encoding': 'gzip' };
  for (const path of [list, overTrpc, '/openapi.json'])
    expect((await ask(path, headers)).headers.vary).toMatch(/Origin/);
});

/* BREACH: who can have a secret compressed beside text of their own learns it from the length. */
describe('what may hold a secret is never compressed', () => {
  const operations = operationsOf(appRouter);

  test('as its declaration says: what anyone may call, and what answers a secret', () => {
    for (const { meta } of operations) {
      expect(isCompressible({ ...meta, access: 'open' })).toBe(false);
      expect(isCompressible({ ...meta, answersSecret: true })).toBe(false);
    }
    expect(operations.filter(({ meta }) => isCompressible(meta)).length).toBeGreaterThan(15);
  });

  /** The same operation, declared in another way. */
  function declared(more: OperationMeta): AnyTRPCRouter {
    const procedure = (appRouter._def.procedures as unknown as Record<string, AnyTRPCProcedure>)['employees.list']!;
    const meta = { ...(procedure._def.meta as OperationMeta), ...more };
    const procedures = { 'employees.list': { _def: { ...procedure._def, meta } } };
    return { _def: { ...appRouter._def, procedures } } as unknown as AnyTRPCRouter;
  }
  test.each<[string, OperationMeta, string | undefined]>([
    ['an answer that is declared as it is', {}, 'gzip'],
    ['an answer that is a secret', { answersSecret: true }, undefined],
    ['an answer to anyone', { access: 'open' }, undefined],
  ])('%s, over REST and tRPC', async (_what, more, encoding) => {
    const shell = await createShell({
      logger: createLogger({ level: 'silent' }),
      trustProxy: false,
      corsOrigins: [],
    });
    registerRest(shell.server, declared(more), service.app.services);
    await registerTrpc(shell.server, declared(more), service.app.services, { readBody: shell.readBody });
    const url = await shell.server.listen({ port: 0, host: '127.0.0.1' });
    shells.push(shell.server);
    for (const path of [list, overTrpc]) {
      const { status, headers } = await ask(path, { ...proof, 'accept-encoding': 'gzip' }, { url });
      expect([status, headers['content-encoding']]).toEqual([200, encoding]);
    }
  });

  test('such as tokens and keys', async () => {
    const headers = { 'content-type': 'application/json', 'accept-encoding': 'gzip, br' };
    const body = JSON.stringify({ email: admin.email, password });
    await service.signIn(admin.email);
    const key = JSON.stringify({ name: 'n'.repeat(100), scopes: ['read'] });
    for (const [path, sent, more] of [
      ['/login/', body, {}],
      ['/trpc/auth.login', body, {}],
      ['/api/api-keys/', key, proof],
      ['/trpc/apiKeys.create', key, proof],
    ] as const) {
      const answer = await ask(path, { ...headers, ...more }, { method: 'POST', body: sent });
      expect([path, answer.status, answer.headers['content-encoding']]).toEqual([path, 200, undefined]);
    }
  });
});
