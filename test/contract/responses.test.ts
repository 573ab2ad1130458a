import Fastify from 'fastify';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { createDocument } from '../../server/surfaces/openapi/openapi.ts';
import { appRouter } from '../../server/router.ts';
import { createDocumentCheck, type Answered } from '../support/document-check.ts';
import { checkResponse } from '../support/check-response.ts';
import { readAnswers } from '../support/held-responses.ts';
import { endAllProcesses, makeHome, startProcess } from '../support/process.ts';
import { watchResponses } from '../support/watch-responses.ts';

/* The net that every other test file hangs in: see test/support/watch-responses.ts. It must have no holes of its own. */
afterAll(endAllProcesses);

const check = createDocumentCheck(createDocument(appRouter, 'https://api.example.test'));

const limits = {
  'ratelimit-policy': '600;w=60',
  'ratelimit-limit': '600',
  'ratelimit-remaining': '599',
  'ratelimit-reset': '60',
};
const ids = { 'x-request-id': 'abc' };
const json = { 'content-type': 'application/json; charset=utf-8' };
const problemJson = { 'content-type': 'application/problem+json' };

const listed: Answered = {
  method: 'GET',
  url: '/api/api-keys/',
  operationId: 'apiKeys.list',
  status: 200,
  headers: { ...json, ...ids, ...limits },
  body: '{"keys": []}',
};
const refused = (code: string, status: number, headers: object = {}): Answered => ({
  ...listed,
  status,
  headers: { ...problemJson, ...ids, ...headers },
  body: JSON.stringify({ type: `/docs/errors/${code}`, title: 'No', status, detail: 'No.', code, requestId: 'abc' }),
});
const unreached = (method: string, status: number, code: string, headers: object = {}): Answered => ({
  ...refused(code, status, headers),
  method,
  operationId: undefined,
});

describe('an answer that the document describes', () => {
  test.each<[string, Answered]>([
    ['a success', listed],
    ['a refusal', refused('UNAUTHENTICATED', 401, { 'www-authenticate': 'Bearer' })],
    ['one to HEAD', { ...listed, method: 'HEAD', body: undefined }],
    ['a wrong method', unreached('PUT', 405, 'METHOD_NOT_ALLOWED', { allow: 'GET, POST' })],
    ['OPTIONS', { ...listed, method: 'OPTIONS', operationId: undefined, status: 204, headers: {}, body: undefined }],
    ['none while closing', unreached('PATCH', 503, 'SERVICE_UNAVAILABLE', { 'retry-after': '2' })],
    ['no HTTP under the path of an operation', unreached('GET', 400, 'MALFORMED_REQUEST')],
  ])('passes: %s', (_name, answered) => {
    expect(check(answered)).toEqual([]);
  });

  test('is none of a path that is no operation', () => {
    for (const url of ['/healthz', '/docs', '/trpc/sessions.list', '/nope/', '/api/'])
      expect(check({ ...listed, url, operationId: undefined })).toBeUndefined();
  });
});

describe('an answer that the document does not describe', () => {
  const key = { _id: 1, name: 'a', prefix: 'wms_a', scopes: ['read'], createdAt: 'x' };
  const without = ({ headers, ...answered }: Answered, name: string): Answered => ({
    ...answered,
    headers: Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name)),
  });

  test.each<[string, Answered, RegExp]>([
    ['a status', { ...listed, status: 201 }, /GET \/api\/api-keys\/ answered 201: that status is not declared/],
    ['a refusal’s status', refused('TEAPOT', 418), /answered 418: that status/],
    ['a code', refused('LAST_ADMIN', 403), /the code LAST_ADMIN is not declared/],
    [
      'a media type',
      { ...listed, headers: { ...listed.headers, 'content-type': 'text/html' } },
      /media type text\/html/,
    ],
    ['no media type', without(listed, 'content-type'), /media type none/],
    ['a field too many', { ...listed, body: '{"keys": [], "secret": 1}' }, /must NOT have additional properties/],
    ['a field too few', { ...listed, body: '{}' }, /must have required property 'keys'/],
    ['another type', { ...listed, body: '{"keys": {}}' }, /body\/keys must be array/],
    ['something deep inside', { ...listed, body: JSON.stringify({ keys: [key] }) }, /body\/keys\/0/],
    ['a field in a refusal', addTo(refused('SESSION_ENDED', 401, { 'www-authenticate': 'Bearer' })), /additional prop/],
    [
      'a header too many',
      { ...listed, headers: { ...listed.headers, 'x-debug': '1' } },
      /header x-debug is not declared/,
    ],
    ['a header too few', without(listed, 'ratelimit-reset'), /header ratelimit-reset is missing/],
    ['429 without Retry-After', refused('RATE_LIMITED', 429, limits), /header retry-after is missing/],
    ['a header of another type', { ...listed, headers: { ...listed.headers, 'ratelimit-limit': 'a' } }, /no integer/],
    ['a wrong method without Allow', unreached('PUT', 405, 'METHOD_NOT_ALLOWED'), /header allow is missing/],
    ['a method that it lacks', unreached('PUT', 200, ''), /PUT \/api\/api-keys\/ answered 200: that status/],
  ])('is named: %s', (_name, answered, problem) => {
    expect(check(answered)?.join('\n')).toMatch(problem);
  });

  function addTo(answered: Answered): Answered {
    return { ...answered, body: JSON.stringify({ ...(JSON.parse(answered.body!) as object), stack: 'at …' }) };
  }
});

describe('for every caller', () => {
  test('has the answers of any server held, also those that no route gives', async () => {
    const answers: Answered[] = [];
    onTestFinished(watchResponses((answered) => answers.push(answered)));
    const app = Fastify();
    onTestFinished(() => app.close());
    app.get('/api/api-keys/', { config: { operation: 'apiKeys.list' } }, async () => ({ keys: 'none' }));
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    await (await fetch(`${url}/api/api-keys/`)).text();
    await (await fetch(`${url}/api/api-keys/`, { method: 'PUT' })).text();
    await (await fetch(`${url}/elsewhere/`)).text();
    const found = answers.map((answered) => checkResponse(answered)?.join('\n'));
    expect(found).toEqual([
      expect.stringContaining('body/keys must be array'),
      expect.stringContaining('PUT /api/api-keys/ answered 404'),
      undefined,
    ]);
  });

  test('has those of processes held as well', async () => {
    const home = await makeHome();
    onTestFinished(home.remove);
    const service = await startProcess(home.environment);
    for (const path of ['/api/api-keys/', '/healthz', '/api/sessions'])
      await (await fetch(`${service.url}${path}`)).text();
    service.signal('SIGTERM');
    await service.ended;
    expect(readAnswers().map(checkResponse)).toEqual([[], undefined, []]);
  });
});
