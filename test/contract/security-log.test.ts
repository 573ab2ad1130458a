import { once } from 'node:events';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Actor } from '../support/actor.ts';
import { password, startService } from '../support/service.ts';

/*
 * Each refused call and each act on an account, a session or a key is one line of the log, which names nobody by
 * address.
 */

const service = await startService();
const { anonymous } = service;
let admin: Actor;
let member: Actor;
let other: Actor;
beforeAll(async () => {
  admin = await service.registerCompany();
  member = await service.addEmployee(admin);
  other = await service.registerCompany();
});

type Line = Record<string, unknown> & { security?: string };

let requests = 0;
/** A request id of its own for a call, and the lines of the security log that bear it. */
function watched() {
  const requestId = `security-${(requests += 1)}`;
  return {
    headers: { headers: { 'x-request-id': requestId } },
    lines: (): Line[] =>
      service
        .log()
        .split('\n')
        .filter((line) => line.includes(`"${requestId}"`))
        .map((line) => JSON.parse(line) as Line)
        .filter(({ security }) => security !== undefined),
  };
}

/** How a WebSocket ends that is asked for with such headers: its code, or what the upgrade is refused with. */
function closeOf({ origin, headers }: { origin?: string; headers: Record<string, string> }) {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/trpc`, {
    headers,
    ...(origin === undefined ? {} : { origin }),
  });
  return new Promise<number | string>((resolve) => {
    socket.on('close', resolve);
    socket.on('error', ({ message }) => resolve(message));
  });
}

const who = ({ companyId, employeeId }: Actor) => ({ companyId, employeeId });
const anyId = expect.any(Number) as number;

describe('a refusal is told', () => {
  test('for want of a credential', async () => {
    const { headers, lines } = watched();
    await anonymous.get('/api/sessions/', headers);
    expect(lines()).toMatchObject([
      { security: 'refused', operation: 'sessions.list', code: 'UNAUTHENTICATED', status: 401, network: '127.0.0.1' },
    ]);
  });

  test('for want of a right, with account, session, company and employee', async () => {
    const { headers, lines } = watched();
    await member.post('/employee/add/', {}, headers);
    expect(lines()).toMatchObject([
      { code: 'ADMIN_REQUIRED', status: 403, accountId: anyId, sessionId: anyId, ...who(member) },
    ]);
  });

  test('for what belongs to another company, in the path and in the body, as the caller’s own line', async () => {
    const { body: project } = await admin.post('/api/projects/', { name: 'Hidden engine' });
    const { headers, lines } = watched();
    await other.get(`/api/projects/${project._id}/`, headers);
    await other.post('/api/tasks/', { projectId: project._id, title: 'Peek' }, headers);
    const found = lines();
    expect(found).toMatchObject([
      { operation: 'projects.get', code: 'NOT_FOUND', status: 404, ...who(other) },
      { operation: 'tasks.create', code: 'VALIDATION_FAILED', status: 400, ...who(other) },
    ]);
    expect(JSON.stringify(found)).not.toContain('Hidden engine');
    expect(found.every(({ companyId }) => companyId === other.companyId)).toBe(true);
  });

  test('over tRPC as over REST', async () => {
    const before = service.log().length;
    await expect(member.trpc.employees.delete.mutate({ _id: admin.employeeId })).rejects.toThrow('Only an admin');
    expect(service.log().slice(before)).toContain('"security":"refused","operation":"employees.delete"');
  });

  test('of a wrong password, by the account and not by its address', async () => {
    const { headers, lines } = watched();
    await anonymous.post('/login/', { email: member.email, password: 'not the right one' }, headers);
    expect(lines()).toMatchObject([{ operation: 'auth.login', code: 'INVALID_CREDENTIALS', accountId: anyId }]);
  });

  test('of a session that has ended, and of a refresh token that was used twice', async () => {
    const leaver = await service.signIn(member.email);
    const ended = watched();
    await leaver.post('/logout/');
    await leaver.get('/api/sessions/', ended.headers);
    expect(ended.lines()).toMatchObject([{ code: 'SESSION_ENDED', sessionId: anyId }]);

    const victim = await service.signIn(member.email);
    const stolen = watched();
    await anonymous.post('/api/token/refresh/', { refresh_token: victim.pair.refresh_token });
    service.clock.advance({ seconds: 11 });
    await anonymous.post('/api/token/refresh/', { refresh_token: victim.pair.refresh_token }, stolen.headers);
    expect(stolen.lines()).toMatchObject([
      { code: 'SESSION_ENDED', sessionId: anyId, because: 'refresh token used twice' },
    ]);
  });

  test('of a WebSocket, for its origin', async () => {
    const { headers, lines } = watched();
    expect(await closeOf({ ...headers, origin: 'https://evil.example.test' })).toBe('Unexpected server response: 403');
    expect(lines()).toMatchObject([
      { security: 'refused', operation: 'websocket', code: 'FORBIDDEN', status: 403, network: '127.0.0.1' },
    ]);
  });

  test('of a WebSocket, for the number of those that its network holds', async () => {
    const { connections } = service.app.services;
    const nothing = (): undefined => undefined;
    const transport = {
      ready: nothing,
      reserve: nothing,
      pause: nothing,
      resume: nothing,
      bufferedBytes: () => 0,
      close: nothing,
    };
    const held = Array.from({ length: 2_000 }, () => connections.open({ ...transport, network: '127.0.0.1' }));
    onTestFinished(() => held.forEach((one) => one.closed()));
    const { headers, lines } = watched();
    expect(await closeOf(headers)).toBe(4429);
    expect(lines()).toMatchObject([{ operation: 'websocket', code: 'TOO_MANY_CONNECTIONS', status: 429 }]);
  });

  test('of a call on a WebSocket whose credential is wrong', async () => {
    const before = service.log().length;
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/trpc?connectionParams=1`);
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    socket.send(JSON.stringify({ method: 'connectionParams', data: { apiKey: 'wms_wrong' } }));
    socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'sessions.list' } }));
    await once(socket, 'message');
    expect(service.log().slice(before)).toMatch(
      /"security":"refused","operation":"sessions.list","code":"INVALID_TOKEN"/,
    );
  });

  test('of too many requests', async () => {
    const strict = await startService({ requestsPerMinute: 1 });
    await strict.anonymous.post('/verify-email/', { email: 'a@example.com' });
    await strict.anonymous.post('/verify-email/', { email: 'a@example.com' });
    expect(strict.log()).toMatch(
      /"security":"refused","operation":"auth\.verifyEmail","code":"RATE_LIMITED","status":429/,
    );
  });
});

describe('an act is told', () => {
  test('a sign-in, with how and where', async () => {
    const { headers, lines } = watched();
    await anonymous.post('/login/', { email: member.email, password }, headers);
    expect(lines()).toMatchObject([
      {
        security: 'signed in',
        method: 'password',
        accountId: anyId,
        sessionId: anyId,
        ...who(member),
        network: '127.0.0.1',
      },
    ]);
  });

  test('the request for a code, and the sign-in with it', async () => {
    const asked = watched();
    await anonymous.post('/verify-email/', { email: member.email }, asked.headers);
    expect(asked.lines()).toMatchObject([{ security: 'code requested', operation: 'auth.verifyEmail' }]);
  });

  test('a key that is made and revoked, a password that is changed, a session that ends', async () => {
    const keeper = await service.signIn(member.email);
    const { headers, lines } = watched();
    const { body: key } = await keeper.post('/api/api-keys/', { name: 'Script', scopes: ['read'] }, headers);
    await keeper.delete(`/api/api-keys/${key._id}/`, undefined, headers);
    const fields = { current_password: password, new_password: `${password} 2`, confirm_password: `${password} 2` };
    await keeper.put(`/employee/password/${keeper.employeeId}/`, fields, headers);
    await keeper.post('/logout/', {}, headers);
    expect(lines()).toMatchObject([
      { security: 'key made', apiKeyMade: key._id, ...who(member) },
      { security: 'key revoked', given_key_id: key._id },
      { security: 'password changed', accountId: anyId },
      { security: 'signed out', sessionId: anyId },
    ]);
  });
});

describe('an act of an admin is told', () => {
  test('the end of an employee’s sessions and keys', async () => {
    const employee = await service.addEmployee(admin);
    const { headers, lines } = watched();
    for (const what of ['sessions', 'api-keys'])
      expect((await admin.delete(`/api/employees/${employee.employeeId}/${what}/`, undefined, headers)).status).toBe(
        200,
      );
    expect(lines()).toMatchObject([
      { security: 'sessions ended by an admin', operation: 'employees.endSessions', ...who(admin) },
      { security: 'keys revoked by an admin', operation: 'employees.endApiKeys', ...who(admin) },
    ]);
    expect(lines().map(({ given__id: given }) => given)).toEqual([employee.employeeId, employee.employeeId]);
  });
});

test('nothing of it, nor of the rest of the log, is a secret or an address', () => {
  const log = service.log();
  for (const { pair, email } of [admin, member, other])
    for (const secret of [pair.access_token, pair.refresh_token, email, password]) expect(log).not.toContain(secret);
});
