import { describe, expect, test } from 'vitest';
import { createCaller, errorOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';

/* What is for operators, on a port that the public does not reach. */

const metrics = ['/metrics'];
const docs = [
  '/docs',
  '/docs/',
  '/docs/errors',
  '/docs/errors/NOT_FOUND',
  '/docs/assets/page.css',
  '/openapi.json',
  '/asyncapi.json',
  '/client.tgz',
];
const health = ['/healthz', '/readyz'];

test('without a private port the public one serves all of it', async () => {
  const { anonymous, app } = await startService();
  expect(app.opsServer).toBeUndefined();
  for (const path of [...metrics, ...docs, ...health])
    expect({ path, status: (await anonymous.get(path)).status }).toEqual({ path, status: 200 });
});

describe.each([
  [
    'with one for /metrics',
    { hasDocs: false },
    { open: [...docs, ...health], closed: metrics, onPrivate: [...metrics, ...health] },
  ],
  [
    'with one for /metrics and /docs',
    { hasDocs: true },
    { open: health, closed: [...metrics, ...docs, '/'], onPrivate: [...metrics, ...docs, ...health] },
  ],
])('%s', async (_how, opsPort, { open, closed, onPrivate }) => {
  const { anonymous, app } = await startService({ settings: { opsPort } });
  const operator = createCaller(await app.opsServer!.listen({ port: 0, host: '127.0.0.1' }));

  test('the public port serves what is public, and nothing else', async () => {
    for (const path of open)
      expect({ path, status: (await anonymous.get(path)).status }).toEqual({ path, status: 200 });
    for (const path of closed)
      expect({ path, ...errorOf(await anonymous.get(path)) }).toEqual({ path, status: 404, code: 'ROUTE_NOT_FOUND' });
    expect((await anonymous.post('/login/', {})).status).toBe(400);
  });

  test('the private port serves the rest, and no operation', async () => {
    await anonymous.post('/login/', {});
    for (const path of onPrivate)
      expect({ path, status: (await operator.get(path)).status }).toEqual({ path, status: 200 });
    // What callers of the public port do.
    expect((await operator.get('/metrics')).body).toMatch(
      /http_request_duration_seconds_count\{operation="auth.login",method="POST",status="400"\} [1-9]/,
    );
    expect((await operator.get('/nope')).status).toBe(404);
    for (const url of ['/login/', '/trpc/:path', '/pictures/:company_id/:picture_id', '/demo/'])
      for (const method of ['GET', 'POST']) expect(app.opsServer!.hasRoute({ url, method })).toBe(false);
    expect((await operator.post('/metrics', {})).status).toBe(405);
  });
});

test('both ports end with the service', async () => {
  const { app } = await startService({ settings: { opsPort: { hasDocs: false } } });
  const url = await app.opsServer!.listen({ port: 0, host: '127.0.0.1' });
  expect((await createCaller(url).get('/metrics')).status).toBe(200);
  await app.close();
  await expect(createCaller(url).get('/metrics')).rejects.toThrow('fetch failed');
});
