import { describe, expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { startAnswering } from './answering.ts';
import { codeOf, connect, errorOf, sessionOf } from './clients.ts';
import { startWiretap } from './wiretap.ts';

const service = await startService();
const { url } = service;
const admin = await service.registerCompany();
const { taskId } = await startWork(admin);
const session = sessionOf(admin.pair);
const company_id = admin.companyId;

describe('withResponse', () => {
  test('has the answer of the plain call, its status, its request in the log and the rest of the budget', async () => {
    const client = connect(url, { session });
    const plain = await client.tasks.get({ task_id: taskId });
    const { data, response } = await client.tasks.get({ task_id: taskId }).withResponse();
    expect(data).toEqual(plain);
    expect(response.status).toBe(200);
    expect(service.log()).toContain(response.requestId);
    const { limit, remaining, resetMs } = response.rateLimit!;
    expect(limit - remaining).toBeGreaterThanOrEqual(2);
    expect(resetMs % 1000).toBe(0);
    expect(resetMs).toBeGreaterThan(0);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.isReplayed).toBe(false);
  });

  test('is of the call that was made, not of another one', async () => {
    const line = await startWiretap(url);
    const client = connect(line.url, { session });
    const call = client.projects.create({ name: 'Engine' });
    const [plain, { data }, again] = [await call, await call.withResponse(), await call.withResponse()];
    expect([data, again.data]).toEqual([plain, plain]);
    expect(line.requests()).toHaveLength(1);
  });

  test('is of the last attempt', async () => {
    const line = await startWiretap(url);
    line.loseAnswers(1);
    const { response } = await connect(line.url, { session }).projects.create({ name: 'Engine' }).withResponse();
    expect(line.requests()).toHaveLength(2);
    // The first attempt took effect, so the second is answered from its copy.
    expect(response).toMatchObject({ status: 200, isReplayed: true });
  });

  test('says that a repeated write is answered from its first answer', async () => {
    const client = connect(url, { session });
    const write = () => client.projects.create({ name: 'Engine' }, { idempotencyKey: 'row 7' }).withResponse();
    const [first, second] = [await write(), await write()];
    expect([first.response.isReplayed, second.response.isReplayed]).toEqual([false, true]);
    expect(second.data).toEqual(first.data);
    expect(second.response.requestId).not.toBe(first.response.requestId);
  });

  test('is there for lists, whose pages are followed as without it, and for files', async () => {
    const client = connect(url, { session });
    const list = client.tasks.list({ company_id });
    const { data, response } = await list.withResponse();
    expect([data.total, response.status]).toEqual([1, 200]);
    for await (const { _id } of list) expect(_id).toBe(taskId);
    const file = await client.timesheets.csv({ company_id, from: '2026-03-01', to: '2026-03-31' }).withResponse();
    expect(file.response.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(await file.data.text()).toContain('Total');
  });

  test('rejects as the plain call does, which nobody then reports as unhandled', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const client = connect(url, { session });
    const error = await errorOf(client.tasks.get({ task_id: 999_999 }).withResponse());
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(error).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    expect(service.log()).toContain(error.requestId);
    expect(unhandled).toEqual([]);
  });

  test('has no token that came as a header', async () => {
    const answering = await startAnswering((response) => {
      response.setHeader('x-access-token', 'secret');
      response.end(JSON.stringify({ result: { data: { sessions: [] } } }));
    });
    const { response } = await connect(answering.url, { session }).sessions.list().withResponse();
    expect([...response.headers.keys()]).not.toContain('x-access-token');
    expect(response).toMatchObject({ requestId: undefined, rateLimit: undefined });
  });

  test('of a sign-out says how it went, also where the session was over before', async () => {
    const { pair } = await service.registerCompany();
    const [one, other] = [connect(url, { session: sessionOf(pair) }), connect(url, { session: sessionOf(pair) })];
    expect(await one.auth.logout().withResponse()).toMatchObject({
      data: { success: true },
      response: { status: 200 },
    });
    expect(await other.auth.logout().withResponse()).toMatchObject({
      data: { success: true },
      response: { status: 401 },
    });
    expect([one.session, other.session]).toEqual([null, null]);
    expect(await codeOf(one.sessions.list())).toBe('UNAUTHENTICATED');
  });
});
