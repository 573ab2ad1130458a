import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { createCaller, errorOf, type Caller } from '../support/actor.ts';
import { endAllProcesses, makeHome, startProcess, type ServiceProcess } from '../support/process.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';
import { waitFor } from '../support/waiting.ts';

/** A service that reaches its database only through the test. */
async function startBehindProxy(): Promise<{
  service: ServiceProcess;
  proxy: Proxy;
  admin: Caller & { companyId: number };
}> {
  const home = await makeHome();
  const proxy = await startProxy(home.environment['DATABASE_URL']!, 5432);
  onTestFinished(async () => {
    await endAllProcesses();
    await proxy.close();
    await home.remove();
  });
  const service = await startProcess({ ...home.environment, DATABASE_URL: proxy.url });
  const signIn = JSON.parse(readFileSync(join(home.folder, 'demo-sign-in.json'), 'utf8')) as object;
  const { body } = await createCaller(service.url).post('/login/', signIn);
  return { service, proxy, admin: { ...createCaller(service.url, body), companyId: body.company.company_id } };
}

describe.runIf(inject('template').kind === 'server')('a database server that goes away', () => {
  test('costs 503 answers while it is away, and nothing once it is back', async () => {
    const { service, proxy, admin } = await startBehindProxy();
    const projects = `/api/projects/company/${admin.companyId}/`;
    const before = await admin.get(projects);
    expect(before.status).toBe(200);
    expect((await admin.get('/readyz')).status).toBe(200);

    proxy.cut();
    for (const answer of [
      await admin.get(projects),
      await admin.post('/api/projects/', { name: 'Never made' }),
      await createCaller(service.url).post('/login/', { email: 'ada@example.com', password: 'a password' }),
      await admin.get('/readyz'),
    ]) {
      expect(errorOf(answer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(JSON.stringify(answer.body)).not.toMatch(/ECONN|postgres|\.ts/);
    }
    expect((await admin.get('/healthz')).status).toBe(200);

    proxy.restore();
    await waitFor(async () => expect((await admin.get('/readyz')).status).toBe(200), { timeout: 10_000 });
    expect((await admin.get(projects)).body).toEqual(before.body);
    expect((await admin.post('/api/projects/', { name: 'Made after all' })).status).toBe(200);
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
  });
});
