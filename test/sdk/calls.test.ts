import { describe, expect, onTestFinished, test } from 'vitest';
import { ApiError, isApiError } from 'work-management-client';
import { startProxy } from '../support/proxy.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { startAnswering } from './answering.ts';
import { codeOf, connect, errorOf, sessionOf } from './clients.ts';
import { startWiretap } from './wiretap.ts';

const origin = 'https://app.example.test';
const service = await startService({ settings: { corsOrigins: [origin] } });
const { url } = service;
const admin = await service.registerCompany();
const neighbour = await service.registerCompany({ name: 'Compilers' });
const { taskId, projectId } = await startWork(admin);
const session = sessionOf(admin.pair);
const company = { company_id: admin.companyId };

const log = (day: number) => ({
  task_id: taskId,
  employee_id: admin.employeeId,
  start_time: `2026-03-${String(day).padStart(2, '0')}T09:00:00Z`,
  end_time: `2026-03-${String(day).padStart(2, '0')}T10:00:00Z`,
});

const project = { name: 'Engine' };

describe('an API error', () => {
  test('is told by its code', async () => {
    const client = connect(url, { session });
    await client.taskLogs.create(log(1));
    const error = await errorOf(client.taskLogs.create(log(1)));
    expect(isApiError(error, 'DUPLICATE_TASK_LOG')).toBe(true);
    expect(isApiError(error, 'NOT_FOUND', 'FORBIDDEN')).toBe(false);
    expect(isApiError(error)).toBe(true);
    expect(isApiError(new Error('DUPLICATE_TASK_LOG'))).toBe(false);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 409, operation: 'taskLogs.create', issues: [] });
    expect(error.message).toMatch(/[a-z]\.$/);
  });

  test('of invalid input names each field, and the request in the log', async () => {
    const error = await errorOf(connect(url, { session }).projects.create({ name: '', allocatedHours: -1 }));
    expect(error.code).toBe('VALIDATION_FAILED');
    expect(error.issues.map(({ path }) => path)).toEqual([['name'], ['allocatedHours']]);
    expect(service.log()).toContain(error.requestId);
  });

  test('of what belongs to another company is the one of what does not exist', async () => {
    const client = connect(url, { session: sessionOf(neighbour.pair) });
    const [foreign, absent] = await Promise.all([
      errorOf(client.tasks.get({ task_id: taskId })),
      errorOf(client.tasks.get({ task_id: 999_999 })),
    ]);
    expect(foreign).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    const said = ({ message, issues, operation }: ApiError) => ({ message, issues, operation });
    expect(said(foreign)).toEqual(said(absent));
    expect(await codeOf(client.tasks.list(company))).toBe('NOT_FOUND');
  });

  test('of a service that is away, or is another one, is the client’s own', async () => {
    const proxy = await startProxy(url, 80);
    onTestFinished(() => proxy.close());
    proxy.cut();
    const away = connect(proxy.url, { session, retries: 0 });
    expect(await errorOf(away.tasks.list(company))).toMatchObject({ code: 'NETWORK_ERROR', status: 0 });
    const other = await startAnswering((response) => void response.end('<html>hello</html>'));
    expect(await codeOf(connect(other.url).tasks.list(company))).toBe('UNEXPECTED_ANSWER');
    const elsewhere = connect(`${url}/docs`, { retries: 0 });
    expect(await errorOf(elsewhere.tasks.list(company))).toMatchObject({ status: 404 });
    const strange = await startAnswering((response) => void response.end('{"status":"ok"}'));
    expect(await codeOf(connect(strange.url).tasks.list(company))).toBe('UNEXPECTED_ANSWER');
  });
});

describe('a write', () => {
  test('whose every field may be left out may be made without any', async () => {
    const client = connect(url, { session });
    await client.timers.start({ taskId });
    expect(await client.timers.stop()).toMatchObject({ taskId, manualAdd: false });
  });

  test('whose answer is lost is tried again and happens once', async () => {
    const line = await startWiretap(url);
    const client = connect(line.url, { session });
    line.loseAnswers(2);
    const made = await client.taskLogs.create(log(2));
    const keys = line.headers('idempotency-key');
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    const { taskLogs } = await client.taskLogs.listByTask({ taskId });
    expect(taskLogs.filter(({ startTime }) => startTime.startsWith('2026-03-02'))).toEqual([made]);
  });

  test('has a key of its own for each call, so that the same call twice is two writes', async () => {
    const line = await startWiretap(url);
    const client = connect(line.url, { session });
    const [first, second] = [await client.projects.create(project), await client.projects.create(project)];
    expect(first._id).not.toBe(second._id);
    expect(new Set(line.headers('idempotency-key')).size).toBe(2);
  });

  test('that is repeated with a key of the caller’s own happens once, and with another input not at all', async () => {
    const client = connect(url, { session });
    const idempotencyKey = 'import-2026-03 row 7';
    const first = await client.projects.create(project, { idempotencyKey });
    expect(await client.projects.create(project, { idempotencyKey })).toEqual(first);
    expect(await codeOf(client.projects.create({ name: 'Other' }, { idempotencyKey }))).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test.each(['Łódź, row 7', 'Zürich', '🦜', 'two\nlines'])(
    'may have a key in any letters: %j',
    async (idempotencyKey) => {
      const client = connect(url, { session });
      const first = await client.projects.create(project, { idempotencyKey });
      expect(await client.projects.create(project, { idempotencyKey })).toEqual(first);
    },
  );

  test('is not made with a key that is blank: it would be none, and a retry could repeat the effect', async () => {
    const server = await startAnswering((response) => void response.destroy());
    const blank = connect(server.url).projects.create(project, { idempotencyKey: ' ' });
    await expect(blank).rejects.toThrow('The idempotencyKey is blank: give another or none.');
    expect(server.seen).toEqual([]);
  });
});

test('sends its tokens in headers alone, to the service alone', async () => {
  const line = await startWiretap(url);
  const client = connect(line.url, { session });
  await client.tasks.list({ ...company, q: 'crank' });
  await client.tasks.create({ projectId, title: 'Oil it' });
  await (await client.timesheets.csv({ ...company, from: '2026-03-01', to: '2026-03-31' })).text();
  expect(line.requests()).toHaveLength(3);
  for (const token of Object.values(session)) {
    expect(line.requests().join(' ')).not.toContain(token);
    expect(line.sent()).toContain(token);
  }
  const elsewhere = await startAnswering((response) => void response.writeHead(307, { location: line.url }).end());
  const before = line.sent();
  expect(await codeOf(connect(elsewhere.url, { session, retries: 0 }).tasks.list(company))).toBe('NETWORK_ERROR');
  expect(line.sent()).toBe(before);
});

test('sends no header that a page of another origin may not send, and reads none that it may not read', async () => {
  const line = await startWiretap(url);
  const client = connect(line.url, { session });
  await client.tasks.create({ projectId, title: 'Oil it' }, { idempotencyKey: 'cross-origin' });
  await client.notifications.onMine({ lastEventId: '0' }, { signal: AbortSignal.timeout(1) }).next();
  const { headers } = await service.anonymous.send('OPTIONS', '/trpc/tasks.create', undefined, {
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  });
  const listOf = (name: string) => headers.get(name)!.toLowerCase().split(/, ?/);
  // What browsers send of their own accord.
  const own = /^(host|connection|user-agent|accept|accept-.*|sec-.*|content-length|upgrade|pragma|cache-control)$/;
  const sent = [...line.sent().matchAll(/^([\w-]+): /gm)].map(([, name]) => name!.toLowerCase());
  const asked = new Set(sent.filter((name) => !own.test(name)));
  expect(asked).toContain('idempotency-key');
  expect(listOf('access-control-allow-headers')).toEqual(expect.arrayContaining([...asked]));
  const answered = await fetch(`${url}/healthz`, { headers: { origin } });
  expect(answered.headers.get('access-control-expose-headers')!.toLowerCase().split(/, ?/)).toEqual(
    expect.arrayContaining(['x-access-token', 'retry-after']),
  );
});
