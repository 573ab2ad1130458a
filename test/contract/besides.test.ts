import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { definedErrors } from '../../server/errors/api-error.ts';
import { errorOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { anonymous, database, url } = service;

describe('the reference', () => {
  test.each([
    '/docs',
    '/docs/',
    '/docs/guides',
    '/docs/guides/',
    '/docs/errors',
    '/docs/errors/',
    '/docs/errors/NOT_FOUND',
    '/docs/errors/NOT_FOUND/',
  ])('at %s loads from this service alone, and all that it loads is there', async (path) => {
    const { status, headers, body } = await anonymous.get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(headers.get('content-security-policy')).not.toMatch(/https?:|\*/);
    const links = [...(body as string).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(4);
    for (const link of new Set(links)) {
      // As behind a proxy that gives the service a prefix.
      const target = new URL(link, `${url}/prefix${path}`);
      expect(target.origin).toBe(url);
      expect({ link, at: target.pathname }).toEqual({ link, at: expect.stringMatching('^/prefix/') });
      const { status: found } = await anonymous.get(target.pathname.slice('/prefix'.length));
      expect({ link, found }).toEqual({ link, found: 200 });
    }
  });

  test('serves its own few files and no others', async () => {
    for (const file of ['index.html', 'swagger-initializer.js', '..%2fdocs.ts', '%2e%2e/docs.ts', '../docs.ts', ''])
      expect({ file, status: (await anonymous.get(`/docs/assets/${file}`)).status }).toEqual({ file, status: 404 });
  });

  test('explains every code on a page of its own', async () => {
    const list = (await anonymous.get('/docs/errors')).body as string;
    for (const { code, status } of definedErrors()) {
      const page = await anonymous.get(`/docs/errors/${code}`);
      expect([code, page.status, list.includes(`errors/${code}"`)]).toEqual([code, 200, true]);
      expect(page.body).toContain(`HTTP ${status}`);
    }
    for (const code of ['NOPE', 'not_found', '%3Cscript%3E'])
      expect(errorOf(await anonymous.get(`/docs/errors/${code}`))).toEqual({ status: 404, code: 'NOT_FOUND' });
  });
});

describe('the guides', () => {
  const pathsIn = (document: unknown) => [
    ...new Set(Array.from(JSON.stringify(document).matchAll(/\]\((\/[^)]*)\)/g), ([, path]) => path!)),
  ];

  test('are where the descriptions of operations and events send their readers', async () => {
    const documents = await Promise.all(['/openapi.json', '/asyncapi.json'].map((path) => anonymous.get(path)));
    const paths = pathsIn(documents.map(({ body }) => body as object));
    expect(paths).toEqual(expect.arrayContaining(['/docs/errors', '/docs/guides/time-periods']));
    for (const path of paths)
      expect({ path, status: (await anonymous.get(path)).status }).toEqual({ path, status: 200 });
  });

  test('lead to each other and to their own headings, with and without a slash, behind any prefix', async () => {
    const list = (await anonymous.get('/docs/guides')).body as string;
    const names = Array.from(list.matchAll(/href="\.\.\/docs\/guides\/([\w-]+)"/g), ([, name]) => name!);
    expect(names.length).toBeGreaterThan(8);
    for (const path of [
      '/docs/guides/',
      ...names.flatMap((name) => [`/docs/guides/${name}`, `/docs/guides/${name}/`]),
    ]) {
      const { status, headers, body } = await anonymous.get(path);
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
      expect(body).not.toMatch(/127\.0\.0\.1:3000|\.md"|src="pictures/);
      for (const [, link] of (body as string).matchAll(/href="(?!https:)([^"]+)"/g)) {
        const { origin, pathname, hash } = new URL(link!, `${url}/prefix${path}`);
        expect({ link, at: origin + pathname }).toEqual({ link, at: expect.stringMatching(`^${url}/prefix/`) });
        const target = await anonymous.get(pathname.slice('/prefix'.length));
        const isThere = hash === '' || (target.body as string).includes(`id="${hash.slice(1)}"`);
        expect({ path, link, status: target.status, isThere }).toEqual({ path, link, status: 200, isThere: true });
      }
    }
    expect(errorOf(await anonymous.get('/docs/guides/operations'))).toMatchObject({ status: 404 });
  });

  test('show tables, code and headings, and call the service where it is reached', async () => {
    const { body } = await anonymous.get('/docs/guides/rest');
    expect(body).toContain('<h2 id="how-much-you-may-ask">How much you may ask</h2>');
    expect(body).toContain('<pre><code class="language-sh">base=https://api.example.test\n');
    expect(body).toContain('<td><code>required</code></td>');
  });
});

describe('/healthz and /readyz', () => {
  test('say that the process lives and can serve', async () => {
    expect(await anonymous.get('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await anonymous.get('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
  });

  test('differ where the database does not answer in two seconds', async () => {
    const held = database.begin();
    await sql`lock table kysely_migration in access exclusive mode`.execute(held.db);
    const answer = await anonymous.get('/readyz');
    expect(errorOf(answer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await anonymous.get('/healthz')).status).toBe(200);
    await held.rollback();
    expect((await anonymous.get('/readyz')).status).toBe(200);
  });

  test('differ where a migration has not run', async () => {
    const { rows } = await sql<{ name: string; timestamp: string }>`
      delete from kysely_migration where name = (select max(name) from kysely_migration) returning name, timestamp`.execute(
      database.db,
    );
    const answer = await anonymous.get('/readyz');
    expect(errorOf(answer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    await sql`insert into kysely_migration values (${rows[0]!.name}, ${rows[0]!.timestamp})`.execute(database.db);
    expect((await anonymous.get('/readyz')).status).toBe(200);
  });
});

test('/readyz differs where a newer version has migrated the database beyond what this one serves on, and says so', async () => {
  const insert = (name: string) =>
    sql`insert into kysely_migration (name, timestamp) values (${name}, '2099-01-01')`.execute(database.db);
  await insert('9996-additive');
  expect((await anonymous.get('/readyz')).status).toBe(200);
  await insert('9998-drop-names-needs-9996');
  const answer = await anonymous.get('/readyz');
  expect(errorOf(answer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect(answer.body.detail).toBe(
    'The database was migrated by a newer version (it has 9998-drop-names-needs-9996), which this one cannot serve on.',
  );
  expect((await anonymous.post('/get-register-otp/', { email: 'served@example.com' })).status).toBe(200);
  await sql`delete from kysely_migration where name > '9990'`.execute(database.db);
  expect((await anonymous.get('/readyz')).status).toBe(200);
});

describe('/metrics', () => {
  const metrics = async () => (await anonymous.get('/metrics')).body as string;

  test('measures requests by operation, and never by what callers write into URLs', async () => {
    const admin = await service.registerCompany();
    await admin.get(`/employee/me/${admin.employeeId}/`);
    await admin.trpc.sessions.list.query();
    await admin.get('/employee/me/77712345/');
    await admin.get('/secret-path-77712345/');
    await admin.get('/trpc/secret-77712345');
    const text = await metrics();
    const count = (labels: string) => Number(text.match(`http_request_duration_seconds_count{${labels}} (\\d+)`)?.[1]);
    expect(count('operation="employees.get",method="GET",status="200"')).toBe(1);
    expect(count('operation="employees.get",method="GET",status="404"')).toBe(1);
    expect(count('operation="sessions.list",method="GET",status="200"')).toBe(1);
    expect(count('operation="unknown path",method="GET",status="404"')).toBeGreaterThan(0);
    expect(text).not.toContain('77712345');
    expect(text).toContain('process_cpu_seconds_total');
  });

  test('count pending and dead-lettered jobs', async () => {
    await service.drain();
    expect(await metrics()).toMatch(/^jobs{state="pending"} 0$/m);
    await anonymous.post('/get-register-otp/', { email: 'waiting@example.com' });
    expect(await metrics()).toMatch(/^jobs{state="pending"} 1$/m);
    await database.db.updateTable('jobs').set({ dead_lettered_at: service.clock.now() }).execute();
    expect(await metrics()).toMatch(/^jobs{state="pending"} 0\njobs{state="dead_lettered"} 1$/m);
  });
});
