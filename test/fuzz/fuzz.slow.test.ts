import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { oas31 } from 'zod-openapi';
import { answerMalformedRequest } from '../../server/surfaces/http/malformed-request.ts';
import { startService } from '../support/service.ts';
import { readDocument } from './document.ts';
import { fuzz, preparingNetwork, type FuzzReport } from './fuzz.ts';
import { generateRequest } from './generate.ts';
import { createKnowledge } from './knowledge.ts';
import { followMails } from './mails.ts';
import { foreignMark, type Actor, type World } from './world.ts';

/* The fuzz itself: it finds what is planted into the answers of the service, each in its own way, and nothing else. */

const service = await startService({ settings: { trustProxy: ['127.0.0.1'], webhookNetworks: ['127.0.0.1'] } });
const { port } = new URL(service.url);

type Asked = { method: string; path: string; body: string };
type Told = { status: number; headers: Record<string, string | string[] | undefined>; body: string };
/** What becomes of an answer on its way; undefined where it stays as it is. */
type Plant = (asked: Asked, told: Told) => Partial<Told> | undefined;

/** Stands before the service and changes answers. */
async function startPlanted(plant: Plant): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const sent = await buffer(request);
      const { method = 'GET', url = '/', rawHeaders } = request;
      // Names and values in turn. Answers are changed as text, so none may come compressed.
      const headers = rawHeaders.filter(
        (_, index) => rawHeaders[index - (index % 2)]!.toLowerCase() !== 'accept-encoding',
      );
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const path = url;
      httpRequest({ port, method, path, headers }, resolve).on('error', reject).end(sent);
      const answer = await promise;
      const told: Told = { status: answer.statusCode!, headers: answer.headers, body: String(await buffer(answer)) };
      // Its people must be made first.
      const isPreparing = request.headers['x-forwarded-for']?.toString().startsWith(preparingNetwork);
      const planted = isPreparing === true ? undefined : plant({ method, path, body: String(sent) }, told);
      const { status, headers: answered, body } = { ...told, ...planted };
      const { 'content-length': _, 'transfer-encoding': __, ...others } = answered;
      response.writeHead(status, others).end(body);
    })().catch(() => request.socket.destroy());
  });
  // What is no HTTP never gets behind it, and is answered as the service answers it.
  server.on('clientError', answerMalformedRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function run(plant: Plant, seed: number): Promise<FuzzReport> {
  const baseUrl = await startPlanted(plant);
  let seen = service.mailbox.mails.length;
  const mails = followMails(async () => {
    await service.drain();
    const news = service.mailbox.mails.slice(seen);
    seen += news.length;
    return news;
  });
  return fuzz({
    baseUrl,
    mails,
    seed,
    requests: 1000,
    concurrency: 4,
    causeOf: () => undefined,
    saveBody: () => 'file',
    onProgress: () => undefined,
  });
}

const problem = (code: string, status: number): Partial<Told> => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'x-request-id': '1' },
  body: JSON.stringify({ type: `/docs/errors/${code}`, title: 't', status, detail: 'd', code, requestId: '1' }),
});

type Planted = { at: RegExp; plant: Plant; found: RegExp };
const withBody =
  (change: (body: string) => string): Plant =>
  (_asked, { status, body }) =>
    status === 200 ? { body: change(body) } : undefined;
const plants: Planted[] = [
  {
    at: /^POST \/api\/tasks\/$/,
    plant: ({ body }) => (body.includes('"dueDate"') ? problem('INTERNAL_ERROR', 500) : undefined),
    found: /^POST tasks.create answered 500$/,
  },
  {
    at: /^POST \/api\/projects\/$/,
    plant: (_asked, { status }) => (status === 200 ? problem('TASK_FROZEN', 409) : undefined),
    found: /the code TASK_FROZEN is not declared/,
  },
  {
    at: /^GET \/employee\/list\/\d+\/$/,
    plant: () => ({ status: 201 }),
    found: /^GET \/employee\/list\/\{company_id\}\/ answered 201: that status is not declared$/,
  },
  {
    at: /^GET \/employee\/list\/activeUsers\/\d+\/$/,
    plant: withBody((body) => body.replace('"_id"', '"password_hash":"$argon2id$","_id"')),
    found: /answered 200: body\/employees\/0 must NOT have additional properties/,
  },
  {
    at: /^GET \/company\//,
    plant: withBody((body) => body.replace(/"name":"[^"]*"/, `"name":"${foreignMark}"`)),
    found: /^GET company.get tells what another company keeps$/,
  },
  {
    at: /^GET \/api\/tasks\//,
    plant: (_asked, { status, body }) =>
      status === 404 ? { body: body.replace(/"detail":"[^"]*"/, '"detail":"at find (tasks.ts:12)"') } : undefined,
    found: /tells of its inside/,
  },
];

describe('the fuzz', () => {
  test('finds nothing where nothing is wrong', async () => {
    const { failures, byStatus } = await run(() => undefined, 1);
    // As text: an object in an array is shortened where a test fails.
    expect(failures.map((failure) => JSON.stringify(failure)).join('\n')).toBe('');
    expect([...byStatus.values()].reduce((sum, count) => sum + count)).toBe(1000);
    for (const status of [200, 400, 401, 403, 404]) expect(byStatus.get(status)).toBeGreaterThan(20);
  });

  test('finds each thing that is planted, and shows what it takes and no more', async () => {
    const { failures } = await run((asked, told) => {
      const path = asked.path.split('?')[0]!;
      return plants.find(({ at }) => at.test(`${asked.method} ${path}`))?.plant(asked, told);
    }, 2);
    const problems = failures.map((failure) => failure.problems.join('\n'));
    for (const { found } of plants) expect(problems).toContainEqual(expect.stringMatching(found));
    expect(problems.filter((one) => !plants.some(({ found }) => found.test(one)))).toEqual([]);

    const failure = failures.find((one) => one.problem === 'POST tasks.create answered 500')!;
    expect(failure.isRepeatable).toBe(true);
    expect(failure.curl).toMatch(/^curl -sS -i .* -X POST 'http:\/\/127\.0\.0\.1:\d+\/api\/tasks\/'/);
    expect(failure.curl).toMatch(/--data-binary '\{"dueDate":[^,]*\}'$/);
  });

  test('asks the same again for the same seed', async () => {
    const document = readDocument((await service.anonymous.get('/openapi.json')).body as oas31.OpenAPIObject);
    const person: Actor = {
      name: 'admin',
      companyId: 1,
      employeeId: 1,
      email: 'admin@example.com',
      proof: [],
      isKey: false,
    };
    const world: World = { actors: new Map([['member', person]]), refresh: async () => true };
    const ask = (seed: number) => {
      const knowledge = createKnowledge();
      const client = { client_id: 'wmsc_1', redirect_uri: 'http://127.0.0.1/done' };
      const source = { document, knowledge, seed, secrets: [], client, world: () => world };
      return Array.from({ length: 1000 }, (_, index) => generateRequest(source, index));
    };
    expect(ask(5)).toEqual(ask(5));
    expect(ask(5)).not.toEqual(ask(6));
  });
});
