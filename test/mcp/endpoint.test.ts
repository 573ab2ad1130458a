import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { agentOf, connectAgent, keyOf } from './agent.ts';

/* /mcp as an HTTP endpoint: what is refused before anything of the protocol is read. */

const service = await startService({ isPublicHere: true, settings: { corsOrigins: ['https://app.example.com'] } });
const admin = await service.registerCompany();
const key = await keyOf(admin, ['read', 'write']);

const asking = {
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const message = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const initialize = (protocolVersion: string) =>
  message('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } });

type Sent = { headers?: Record<string, string>; body?: string; method?: string; path?: string };

/** Sends any headers, `Host` and `Origin` too. */
async function send({ headers = {}, body = message('tools/list'), method = 'POST', path = '/mcp' }: Sent = {}) {
  const sent = request(new URL(path, service.url), { method, headers: { ...asking, ...headers } });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject).end(body);
  });
  const answer = await text(response);
  // The protocol answers a stream of one event to clients that accept it.
  const json = /^data: (.*)$/m.exec(answer)?.[1] ?? answer;
  return { status: response.statusCode, headers: response.headers, body: json === '' ? undefined : JSON.parse(json) };
}

test.each(['2025-06-18', '2025-11-25'])('speaks %s', async (version) => {
  const { status, body } = await send({ body: initialize(version) });
  expect([status, body.result.protocolVersion]).toEqual([200, version]);
  expect(body.result.instructions).toMatch(/who_am_i/);
});

test.each(['present', 'before'] as const)('an agent of the %s version lists and calls tools', async (version) => {
  const agent = await connectAgent(service, key, version);
  expect((await agent.client.listTools()).tools).toHaveLength(16);
  expect((await agent.call('who_am_i')).result.employee.id).toBe(admin.employeeId);
  expect((await agent.call('get_task', { task_id: 987_654_321 })).result.error.code).toBe('NOT_FOUND');
  await expect(agent.client.callTool({ name: 'dance' })).rejects.toThrow('There is no tool dance.');
  expect(agent.client.getInstructions()).toMatch(/who_am_i/);
});

test('a notification is accepted and not answered', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  expect(await send({ body })).toMatchObject({ status: 202, body: undefined });
});

describe('a caller', () => {
  test('without a key is told where to get one', async () => {
    for (const authorization of ['', 'Bearer', 'Basic abc', `Bearer ${key}x`, 'Bearer wms_none']) {
      const { status, headers, body } = await send({ headers: { authorization } });
      expect([authorization, status, body.code]).toEqual([
        authorization,
        401,
        expect.stringMatching(/^(UNAUTHENTICATED|INVALID_TOKEN)$/),
      ]);
      expect(headers['www-authenticate']).toMatch(/^Bearer/);
    }
    expect((await send({ headers: { authorization: '' } })).body.detail).toMatch(
      /^Send an API key .* `WWW-Authenticate` names/,
    );
  });

  test('sends the key as a header, and never in the address', async () => {
    const path = `/mcp?access_token=${key}&api_key=${key}`;
    expect((await send({ path, headers: { authorization: '' } })).status).toBe(401);
    expect(service.log()).not.toContain(key);
  });

  test('on a page of a strange origin is refused, also with a key', async () => {
    const from = async (origin: string) => (await send({ headers: { origin } })).status;
    expect(await from('https://evil.example')).toBe(403);
    expect(await from('null')).toBe(403);
    expect(await from('https://app.example.com.evil.example')).toBe(403);
    expect(await from('https://app.example.com')).toBe(200);
    expect(await from('http://localhost:3000')).toBe(403);
    expect(await from(service.url)).toBe(200);
  });

  test('under a strange name is refused: a name server could have led a page here', async () => {
    const at = async (host: string) => (await send({ headers: { host } })).status;
    expect(await at('evil.example')).toBe(403);
    expect(await at('127.0.0.1.evil.example:80')).toBe(403);
    expect(await at('user@evil.example')).toBe(403);
    for (const host of ['localhost', 'localhost:9', '127.0.0.1:80', '[::1]:80'])
      expect([host, await at(host)]).toEqual([host, 200]);
  });
});

describe('what is no call', () => {
  test.each(['GET', 'PUT', 'PATCH', 'DELETE'])('by %s is refused', async (method) => {
    const { status, headers } = await send({ method, body: '' });
    expect([status, headers.allow]).toEqual([405, expect.stringContaining('POST')]);
  });

  test('is told apart', async () => {
    const refused = async (sent: Sent) => {
      const { status, body } = await send(sent);
      return `${status} ${body.code ?? body.error.code}`;
    };
    expect(await refused({ body: '{' })).toBe('400 MALFORMED_JSON');
    expect(await refused({ body: `[${message('tools/list')},${message('tools/list')}]` })).toBe(
      '400 MALFORMED_REQUEST',
    );
    expect(await refused({ body: `"${'x'.repeat(1_100_000)}"` })).toBe('413 BODY_TOO_LARGE');
    expect(await refused({ headers: { 'content-type': 'text/plain' } })).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    expect(await refused({ headers: { accept: 'text/html' } })).toMatch(/^406 /);
    expect(await refused({ body: '7' })).toMatch(/^400 /);
    expect(await refused({ body: '' })).toMatch(/^400 /);
    expect(await refused({ body: message('tools/dance') })).toBe('200 -32601');
    expect(await refused({ body: message('tools/call', { name: 'dance' }) })).toBe('200 -32602');
    expect(await refused({ body: message('tools/call', { name: 7 }) })).toMatch(/ -326/);
    expect(await refused({ body: message('tools/call', { name: '__proto__', arguments: {} }) })).toBe('200 -32602');
  });
});

test('64 agents at once are each answered their own', async () => {
  const people = [admin, await service.addEmployee(admin), await service.registerCompany()];
  const agents = await Promise.all(people.map((person) => agentOf(service, person)));
  await Promise.all(
    Array.from({ length: 64 }, async (_, at) => {
      const { result } = await agents[at % 3]!.call('who_am_i');
      expect([result.employee.id, result.company.company_id]).toEqual([
        people[at % 3]!.employeeId,
        people[at % 3]!.companyId,
      ]);
    }),
  );
});

test('nothing of what agents say is in the log', async () => {
  const agent = await agentOf(service, admin);
  const before = service.log().length;
  await agent.call('save_project', { name: 'Confidential undertaking' });
  await agent.call('save_project', { name: 'Confidential undertaking', status: 'Confidential state' });
  await agent.call('Confidential tool').catch(() => {});
  await send({ body: message('tools/call', { name: 'Confidential tool' }) });
  const lines = service.log().slice(before);
  expect(lines).toContain('/mcp');
  expect(lines).not.toContain('Confidential');
  expect(lines).not.toContain(key.slice(8));
});
