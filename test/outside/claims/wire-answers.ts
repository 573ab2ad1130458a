import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { got, said } from '../caller.ts';
import { proofOf } from '../people.ts';
import { service } from '../running.ts';
import { addLog, addProject, addTask } from '../work.ts';
import { waitFor } from '../../support/waiting.ts';

/*
 * Contract 1: what goes out, retries, limits on size, and what is served besides.
 *
 * Not to be seen from outside: that a failure inside is a 500 without its detail (test/contract/hardening.test.ts,
 * test/kernel/errors.test.ts), 503 while the database is away, the server stops or has too much to do
 * (test/faults/database-away.test.ts, test/contract/shutdown.test.ts, test/contract/fair-limits.test.ts), that a key of
 * Idempotency-Key is forgotten after 24 hours (test/contract/idempotency.test.ts), and windows of limits that end
 * (test/features/accounts/login.test.ts, test/features/accounts/code-login.test.ts). Shared limits: test/faults/redis.test.ts.
 */

const { anonymous, url } = service;
const admin = await service.register();
const member = await service.join(admin);
const neighbour = await service.register();
const project = await addProject(admin);
const task = await addTask(admin, { projectId: project._id });
const theirs = await addTask(neighbour);
const json = { 'content-type': 'application/json' };

describe('contract 1, errors', () => {
  test('are problem documents with type, title, status, detail, code and requestId', async () => {
    const answer = await anonymous.get('/nowhere/');
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(Object.keys(answer.body).toSorted()).toEqual(['code', 'detail', 'requestId', 'status', 'title', 'type']);
    expect(answer.body.status).toBe(404);
    expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'));
    expect(answer.body.detail).toMatch(/^[A-Z].*\.$/s);
    expect(answer.body.code).toMatch(/^[A-Z][A-Z_]+$/);
  });

  test('have a page in the docs, where type leads, whichever code they have', async () => {
    const document = JSON.stringify(got(await anonymous.get('/openapi.json')));
    const codes = new Set([...document.matchAll(/docs\/errors\/([A-Z_]+)/g)].map(([, code]) => code!));
    expect(codes.size).toBeGreaterThan(20);
    for (const code of codes) {
      const page = await anonymous.get(`/docs/errors/${code}`);
      expect([code, page.status, page.text.includes(code)]).toEqual([code, 200, true]);
    }
  });

  test('of invalid input list issues with path, message and code', async () => {
    const { body } = await admin.post('/employee/add/', { email: 'x', companyId: admin.companyId });
    expect(body.type).toBe('/docs/errors/VALIDATION_FAILED');
    expect(body.issues.length).toBeGreaterThanOrEqual(3);
    for (const issue of body.issues) {
      expect(Object.keys(issue).toSorted()).toEqual(['code', 'message', 'path']);
      expect(Array.isArray(issue.path)).toBe(true);
    }
  });
});

describe('contract 1, statuses', () => {
  test('400 VALIDATION_FAILED is for invalid input', async () => {
    expect(said(await admin.post('/api/projects/', {}))).toBe('400 VALIDATION_FAILED name:required');
  });

  test('401 is for no proof and for an invalid one', async () => {
    expect(said(await anonymous.get(`/employee/list/${admin.companyId}/`))).toBe('401 UNAUTHENTICATED');
    const bad = { authorization: 'Bearer nonsense', 'x-refresh-token': 'nonsense' };
    expect(said(await anonymous.get(`/employee/list/${admin.companyId}/`, bad))).toBe('401 INVALID_TOKEN');
  });

  test('403 is for a known caller who may not', async () => {
    expect(said(await member.put(`/company/${admin.companyId}/update/`, { name: 'Mine' }))).toBe('403 ADMIN_REQUIRED');
  });

  test('404 ROUTE_NOT_FOUND names the method and path that were asked for', async () => {
    const answer = await admin.post('/employee/nowhere/', {});
    expect(said(answer)).toBe('404 ROUTE_NOT_FOUND');
    expect(answer.body.detail).toContain('POST /employee/nowhere/');
  });

  test('404 NOT_FOUND is the same for what is absent and what is of another company', async () => {
    const foreign = await admin.get(`/api/tasks/${theirs._id}/`);
    const absent = await admin.get('/api/tasks/987654321/');
    expect([said(foreign), said(absent)]).toEqual(['404 NOT_FOUND', '404 NOT_FOUND']);
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...absent.body, requestId: '' });
  });

  test('an identifier in a body that names nothing in the company is a 400 not_found, the same for foreign and absent', async () => {
    const answers = await Promise.all(
      [theirs.projectId, 987_654_321].map((projectId) => admin.post('/api/tasks/', { title: 'x', projectId })),
    );
    expect(answers.map(said)).toEqual(Array(2).fill('400 VALIDATION_FAILED projectId:not_found'));
    expect(answers[0]!.body.issues).toEqual(answers[1]!.body.issues);
  });

  test('an identifier in a query that names nothing in the company is a 400 not_found, the same for foreign and absent', async () => {
    for (const id of [theirs.projectId, 987_654_321])
      expect(said(await admin.get(`/api/tasks/company/${admin.companyId}/?projectId=${id}`))).toBe(
        '400 VALIDATION_FAILED projectId:not_found',
      );
  });

  test('405 lists the methods in Allow', async () => {
    const answer = await anonymous.delete('/login/');
    expect(said(answer)).toBe('405 METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).toContain('POST');
  });

  test('409 is for a conflict with what is stored', async () => {
    const again = { first_name: 'A', last_name: 'B', email: member.email, companyId: admin.companyId };
    expect(said(await admin.post('/employee/add/', again))).toBe('409 EMPLOYEE_EXISTS');
  });
});

describe('contract 1, over tRPC', () => {
  test('an error has the same code, requestId and issues in its data', async () => {
    const rest = await admin.post('/api/projects/', {}, { 'x-request-id': 'same-request' });
    const answer = await admin.post('/trpc/projects.create', {}, { 'x-request-id': 'same-request' });
    const { code, requestId, issues } = answer.body.error.data;
    expect({ code, requestId, issues }).toEqual({
      code: rest.body.code,
      requestId: 'same-request',
      issues: rest.body.issues,
    });
  });

  test('a refusal has its code too', async () => {
    const answer = await admin.get(
      `/trpc/tasks.get?input=${encodeURIComponent(JSON.stringify({ task_id: theirs._id }))}`,
    );
    expect(answer.body.error.data).toMatchObject({ code: 'NOT_FOUND', requestId: expect.any(String) });
  });

  test('an operation answers the same over HTTP batches and WebSocket', async () => {
    const rest = got(await admin.get(`/api/tasks/${task._id}/`));
    const input = JSON.stringify({ task_id: task._id });
    const batch = await admin.get(
      `/trpc/tasks.get?batch=1&input=${encodeURIComponent(JSON.stringify({ 0: { task_id: task._id } }))}`,
    );
    expect(batch.body[0].result.data).toEqual(rest);
    const single = await admin.get(`/trpc/tasks.get?input=${encodeURIComponent(input)}`);
    expect(single.body.result.data).toEqual(rest);
  });
});

describe('contract 1, retries', () => {
  const once = (key: string, name: string) => admin.post('/api/projects/', { name }, { 'idempotency-key': key });

  test('the same key with the same body gets the first answer again, and nothing happens twice', async () => {
    const first = got(await once('retry-1', 'Once'));
    expect(got(await once('retry-1', 'Once'))).toEqual(first);
    const { results } = got(await admin.get(`/api/projects/company/${admin.companyId}/`));
    expect(results.filter((one: { name: string }) => one.name === 'Once')).toHaveLength(1);
  });

  test('the same key with another body is 422 IDEMPOTENCY_KEY_REUSED', async () => {
    got(await once('retry-2', 'First'));
    expect(said(await once('retry-2', 'Second'))).toBe('422 IDEMPOTENCY_KEY_REUSED');
  });

  test('the same key while the first is running is 409, and one alone happens', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => once('retry-3', 'At once')));
    for (const answer of answers) expect(said(answer)).toMatch(/^(200|409 IDEMPOTENCY_KEY_IN_USE)$/);
    const made = answers.filter(({ status }) => status === 200).map(({ body }) => body._id);
    expect(new Set(made).size).toBe(1);
  });

  test.each([
    ['PATCH', () => `/api/tasks/${task._id}/`, { title: 'Twice' }],
    ['PUT', () => `/company/${admin.companyId}/update/`, { timezone: 'Europe/Paris' }],
    ['DELETE', () => `/notifications/${admin._id}/clear/`, undefined],
    ['POST', () => `/mark_notifications_as_read/${admin._id}/`, undefined],
  ])('a key is honoured on a %s as well', async (method, path, body) => {
    const key = { 'idempotency-key': `each-${method}` };
    const first = got(await admin.send(method, path(), body, key));
    const again = await admin.send(method, path(), body, key);
    expect(got(again)).toEqual(first);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('a deletion that is repeated with its key succeeds again', async () => {
    const log = await addLog(admin, task._id, 9);
    const gone = () => admin.delete(`/api/tasklogs/delete/${log._id}/`, undefined, { 'idempotency-key': 'delete-log' });
    expect([said(await gone()), said(await gone())]).toEqual(['200', '200']);
    expect(said(await admin.delete(`/api/tasklogs/delete/${log._id}/`))).toBe('404 NOT_FOUND');
  });

  test('the key of one caller means nothing to another', async () => {
    const first = got(await once('retry-4', 'Mine'));
    const other = await neighbour.post('/api/projects/', { name: 'Mine' }, { 'idempotency-key': 'retry-4' });
    expect(got(other)._id).not.toBe(first._id);
  });
});

describe('contract 1, request ids', () => {
  test('a sane X-Request-Id is honoured, in the header, the problem and the log', async () => {
    const id = 'from-outside-4711';
    const answer = await anonymous.get('/nowhere/', { 'x-request-id': id });
    expect([answer.headers.get('x-request-id'), answer.body.requestId]).toEqual([id, id]);
    await waitFor(() => expect(service.process.stdout()).toContain(`"requestId":"${id}"`));
  });

  test('another one is made where it is not sane', async () => {
    for (const id of ['x'.repeat(1000), 'with space and "quotes"', '<script>']) {
      const made = (await anonymous.get('/healthz', { 'x-request-id': id })).headers.get('x-request-id');
      expect(made).toBeTruthy();
      expect(made).not.toBe(id);
    }
  });

  test.each(['/healthz', '/openapi.json', '/docs', '/nowhere/', '/login/', '/metrics'])(
    'one is on the answer of %s',
    async (path) => {
      expect((await anonymous.get(path)).headers.get('x-request-id')).toMatch(/^\S{8,}$/);
    },
  );

  test('every log line of a request carries one', async () => {
    await anonymous.get('/nowhere/', { 'x-request-id': 'last-of-the-log' });
    await waitFor(() => expect(service.process.stdout()).toContain('last-of-the-log'));
    const lines = service.process
      .stdout()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'));
    const ofRequests = lines.filter((line) => /"(route|operation)":/.test(line));
    expect(ofRequests.length).toBeGreaterThan(10);
    for (const line of ofRequests) expect(line).toContain('"requestId":');
  });
});

describe('contract 1, size limits', () => {
  const project = (bytes: number): string => {
    const start = '{"name":"Large","filler":"';
    return `${start}${'x'.repeat(bytes - start.length - 2)}"}`;
  };

  test('a body may have 1 MiB, and one byte more is 413', async () => {
    expect(said(await admin.post('/api/projects/', project(1024 * 1024)))).toBe('200');
    expect(said(await admin.post('/api/projects/', project(1024 * 1024 + 1)))).toBe('413 BODY_TOO_LARGE');
  });

  test('a body far over its limit gets its 413 delivered', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => admin.post('/api/projects/', project(8 * 1024 * 1024))),
    );
    for (const answer of answers) expect(said(answer)).toBe('413 BODY_TOO_LARGE');
  });

  test('a body of unknown length over its limit gets its 413 as well', async () => {
    const answer = await fetch(`${url}/api/projects/`, {
      method: 'POST',
      headers: { ...proofOf(admin), ...json },
      body: new Blob([project(3 * 1024 * 1024)]).stream(),
      duplex: 'half',
    });
    expect([answer.status, await answer.json()]).toMatchObject([413, { code: 'BODY_TOO_LARGE' }]);
  });

  test('the picture operation takes 4 MiB, and one byte more is 413', async () => {
    const path = `/employee/update-picture/${admin._id}/`;
    const body = (bytes: number): string => `{"profilePicture":"${'A'.repeat(bytes - 21)}"}`;
    expect(body(4 * 1024 * 1024)).toHaveLength(4 * 1024 * 1024);
    expect(said(await admin.patch(path, body(4 * 1024 * 1024)))).toMatch(/^400 VALIDATION_FAILED profilePicture:/);
    expect(said(await admin.patch(path, body(4 * 1024 * 1024 + 1)))).toBe('413 BODY_TOO_LARGE');
  });

  test('a bulk array has 1 to 1,000 entries', async () => {
    const path = `/tasklogs/bulk/create/${admin._id}/`;
    const entries = Array.from({ length: 1001 }, (_, minute) => ({
      taskId: task._id,
      userId: admin._id,
      startTime: new Date(Date.UTC(2026, 1, 1, 0, minute)).toISOString(),
      endTime: new Date(Date.UTC(2026, 1, 1, 0, minute + 1)).toISOString(),
    }));
    expect(said(await admin.post(path, []))).toBe('400 VALIDATION_FAILED :too_small');
    expect(said(await admin.post(path, entries))).toBe('400 VALIDATION_FAILED :too_big');
    expect(got(await admin.post(path, entries.slice(1))).created).toHaveLength(1000);
  });

  test('a message has 64 KiB, as sent and as stored', async () => {
    const write = (message: string, format = 'html') =>
      admin.post('/api/task-chats/', { taskId: task._id, sender: admin._id, message, format });
    const limit = 64 * 1024;
    expect(said(await write('x'.repeat(limit)))).toBe('200');
    expect(said(await write('x'.repeat(limit + 1)))).toBe('400 VALIDATION_FAILED message:too_big');
    expect(said(await write('é'.repeat(limit / 2 + 1)))).toBe('400 VALIDATION_FAILED message:too_big');
    // Escaped, each of these takes five bytes.
    expect(said(await write('&'.repeat(limit / 2), 'text'))).toBe('400 VALIDATION_FAILED message:too_big');
  });

  test('notification_ids has 1 to 1,000 of them', async () => {
    const remove = (count: number) =>
      admin.delete('/notifications/delete/', { notification_ids: Array.from({ length: count }, (_, nth) => nth + 1) });
    expect(said(await remove(0))).toBe('400 VALIDATION_FAILED notification_ids:too_small');
    expect(said(await remove(1001))).toBe('400 VALIDATION_FAILED notification_ids:too_big');
    expect(said(await remove(1000))).toBe('200');
  });

  test('q has 1 to 200 characters', async () => {
    const search = (q: string) => admin.get(`/employees/search/${admin.companyId}/?q=${q}`);
    expect(said(await search(''))).toBe('400 VALIDATION_FAILED q:required');
    expect(said(await search('x'.repeat(201)))).toBe('400 VALIDATION_FAILED q:too_big');
    expect(said(await search('x'.repeat(200)))).toBe('200');
  });
});

describe('contract 1, served besides the operations', () => {
  test.each([
    ['/openapi.json', 'application/json'],
    ['/asyncapi.json', 'application/json'],
    ['/docs', 'text/html'],
    ['/healthz', 'application/json'],
    ['/readyz', 'application/json'],
    ['/metrics', 'text/plain'],
  ])('%s is open, as %s', async (path, type) => {
    const answer = await anonymous.get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)]);
  });

  test('/docs works offline: all that it loads is the service’s own', async () => {
    const { text } = await anonymous.get('/docs');
    const loaded = [...text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(
      ([, address]) => new URL(address!, `${url}/docs`),
    );
    const assets = loaded.filter(({ pathname }) => /\.(js|css|svg|png|woff2?)$/.test(pathname));
    expect(assets.length).toBeGreaterThan(1);
    for (const asset of assets) {
      expect(asset.origin).toBe(url);
      expect((await fetch(asset)).status).toBe(200);
    }
    const files = await Promise.all(assets.map(async (asset) => (await fetch(asset)).headers.get('content-type')));
    expect(files).not.toContain('text/html');
  });

  test('/trpc speaks WebSocket', async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/trpc?connectionParams=1`);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const answered = new Promise<string>((resolve) =>
      socket.once('message', (data: Buffer) => resolve(data.toString())),
    );
    const { access_token: accessToken, refresh_token: refreshToken } = admin.pair;
    socket.send(JSON.stringify({ method: 'connectionParams', data: { accessToken, refreshToken } }));
    socket.send(
      JSON.stringify({ id: 1, method: 'query', params: { path: 'tasks.get', input: { task_id: task._id } } }),
    );
    expect(JSON.parse(await answered)).toMatchObject({ id: 1, result: { data: { _id: task._id } } });
    socket.close();
  });

  test('what is no HTTP at all gets a 400', async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write('nonsense\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 400 [^]*MALFORMED_REQUEST/);
  });

  test('no secret of a session is in the log', () => {
    const log = service.process.stdout();
    for (const secret of [admin.pair.access_token, admin.pair.refresh_token, member.pair.refresh_token])
      expect(log).not.toContain(secret);
    expect(readFileSync(join(service.folder, 'mail.jsonl'), 'utf8')).not.toContain(admin.pair.refresh_token);
  });
});
