import { describe, expect, test } from 'vitest';
import { scopes, type Scope } from '../../server/platform/scopes.ts';
import { appRouter } from '../../server/router.ts';
import { toolsOf, type Part, type Tool } from '../../server/surfaces/mcp/tools.ts';
import { createCaller } from '../support/actor.ts';
import { readRowsOfCompany } from '../support/all-rows.ts';
import { startService } from '../support/service.ts';
import { callOperation, exampleWith, type Input } from '../support/smoke-calls.ts';
import { makeTwoCompanies } from '../support/things.ts';
import { agentOf, connectAgent, keyOf, type TestAgent } from './agent.ts';

/* A tool allows nobody what its operations refuse them: every part of every tool is tried, and compared with REST. */

const service = await startService();
const { admin, plain, neighbour, theirs, own } = await makeTwoCompanies(service);
const absentId = 987_654_321;

const parts = toolsOf(appRouter).flatMap((tool) =>
  [...tool.parts, ...tool.included].map((part) => ({ tool, part, title: `${tool.name}: ${part.operation.name}` })),
);

const needed: Record<string, Input> = {
  'search.company': { q: 'gear' },
  'timesheets.get': { from: '2026-03-01', to: '2026-03-02' },
  'timesheetPeriods.list': { from: '2026-03-01', to: '2026-03-02' },
  'balances.get': { from: '2026-03-01', to: '2026-03-02' },
  'comments.create': { mentionedEmails: [], reply_to: null },
  'taskLogs.update': { startTime: '2026-03-02T10:00:00Z', endTime: '2026-03-02T11:00:00Z' },
};

/** The documented example of an operation, about the given things. */
const inputOf = ({ operation }: Part, valueOf: Parameters<typeof exampleWith>[1]): Input =>
  exampleWith(operation, valueOf, needed[operation.name]);

/** An input of an operation as arguments of its tool. */
function argumentsOf({ use, arguments: its }: Part, input: Input): Input {
  const given = Object.fromEntries(
    its.flatMap(({ name, field }) => (input[field] === undefined ? [] : [[name, input[field]]])),
  );
  return {
    ...given,
    ...(use.action === undefined ? {} : { action: use.action }),
    ...(use.include === undefined ? {} : { include: [use.include] }),
  };
}

async function codeOf(agent: TestAgent, tool: Tool, given: Input): Promise<string | undefined> {
  return (await agent.call(tool.name, given)).result.error?.code;
}

test('every tool has a part, and every part is tried', () => {
  expect(new Set(parts.map(({ tool }) => tool.name)).size).toBe(16);
  expect(parts.length).toBeGreaterThanOrEqual(34);
});

describe('things of another company', () => {
  /** What names something in the input; the neighbour's own person is in none of them. */
  const naming = parts.filter(({ part }) => part.arguments.some(({ kind }) => kind !== undefined));

  test('are not there, as things that never were, and do not change', async () => {
    const agent = await agentOf(service, admin);
    await service.drain();
    const before = await readRowsOfCompany(service.database.db, theirs.company);
    for (const { tool, part, title } of naming) {
      const ofThem = argumentsOf(
        part,
        inputOf(part, (kind) => theirs[kind]),
      );
      const ofNobody = argumentsOf(
        part,
        inputOf(part, () => absentId),
      );
      // Own identifiers may be left out; here they are given, and are another's.
      for (const { name, isOwn } of part.arguments)
        if (isOwn) {
          ofThem[name] = theirs.employee;
          ofNobody[name] = absentId;
        }
      if (part.arguments.every(({ name, kind }) => kind === undefined || ofThem[name] === undefined)) continue;
      const seen = [await codeOf(agent, tool, ofThem), await codeOf(agent, tool, ofNobody)];
      expect([title, seen[0]]).toEqual([
        title,
        expect.stringMatching(/^(NOT_FOUND|VALIDATION_FAILED|NOT_THE_SENDER)$/),
      ]);
      expect([title, seen[1]]).toEqual([title, seen[0]]);
    }
    await service.drain();
    expect(await readRowsOfCompany(service.database.db, theirs.company)).toEqual(before);
  });

  test('are found by no name', async () => {
    const agent = await agentOf(service, admin);
    const { body: project } = await neighbour.post('/api/projects/', { name: 'Secret engine' });
    const { body: task } = await neighbour.post('/api/tasks/', { projectId: project._id, title: 'Secret gear' });
    for (const [tool, given] of [
      ['save_task', { project_id: 'Secret engine', title: 'Mine' }],
      ['get_task', { task_id: 'Secret gear' }],
      ['save_task', { task_id: task._id, title: 'Mine' }],
      ['people', { employee_id: neighbour.email }],
    ] as const) {
      const { text, result } = await agent.call(tool, given);
      expect(result.error.code).toMatch(/^(NOT_FOUND|VALIDATION_FAILED)$/);
      expect(text).not.toContain(neighbour.name);
    }
    expect((await agent.call('search', { q: 'secret' })).result.results).toEqual([]);
    expect((await agent.call('list_tasks', { q: 'secret' })).result.results).toEqual([]);
  });
});

test('whom REST refuses, tools refuse for the same reason', async () => {
  const key = await keyOf(plain, ['read', 'write']);
  const agent = await connectAgent(service, key);
  const rest = createCaller(service.url);
  const headers = { authorization: `Bearer ${key}` };
  const refused: string[] = [];
  for (const { tool, part, title } of parts) {
    const input = inputOf(part, (kind) => own[kind]);
    for (const { field, kind, isOwn } of part.arguments)
      if (isOwn && kind === 'employee') input[field] = admin.employeeId;
    const code = await codeOf(agent, tool, argumentsOf(part, input));
    if (code === undefined || part.use.include !== undefined) continue;
    for (const [field, whose] of Object.entries(part.filled))
      input[field] = whose === 'company' ? plain.companyId : plain.employeeId;
    const answer = await callOperation(
      { send: (method, path, body) => rest.send(method, path, body, { headers }) },
      part.operation,
      { ...input, ...part.use.sends },
    );
    expect([title, code]).toEqual([title, answer.body.code]);
    refused.push(title);
  }
  expect(refused).toEqual(
    expect.arrayContaining([
      'log_time: taskLogs.create',
      'save_project: projects.update',
      'submit_week: timesheetPeriods.submit',
      'timer: timers.get',
      'delete: tasks.delete',
      'delete: projects.delete',
      'delete: taskLogs.delete',
    ]),
  );
});

test.each(scopes)('a key of the scope %s calls what is declared for it, and nothing else', async (scope) => {
  const agent = await agentOf(service, admin, [scope]);
  const differing: string[] = [];
  // What is included is asked for behind the operation that it adds to: see below.
  for (const { tool, part, title } of parts.filter(({ part: { use } }) => use.include === undefined)) {
    const { meta, type } = part.operation;
    const given = argumentsOf(
      part,
      inputOf(part, () => absentId),
    );
    const { result } = await agent.call(tool.name, given);
    const isRefused = result.error?.code === 'SCOPE_REQUIRED' && result.error.missing_scopes.length > 0;
    const mayCall = declaredFor(scope, { access: meta.access, keys: meta.keys, type });
    if (isRefused === mayCall) differing.push(title);
  }
  expect(differing).toEqual([]);
});

test('what is included needs its own scope', async () => {
  const agent = await agentOf(service, admin, ['tasks:read']);
  expect((await agent.call('get_task', { task_id: own.task })).isError).toBe(false);
  for (const [word, area] of [
    ['comments', 'comments'],
    ['logs', 'time'],
  ]) {
    const { result } = await agent.call('get_task', { task_id: own.task, include: [word] });
    expect(result.error).toMatchObject({ code: 'SCOPE_REQUIRED', missing_scopes: [`${area}:read`] });
  }
});

type Declared = Pick<Part['operation']['meta'], 'access' | 'keys'> & { type: string };

function declaredFor(scope: Scope, { access, keys, type }: Declared): boolean {
  const kind = type === 'query' ? 'read' : 'write';
  if (keys === 'any key' || scope === kind) return true;
  const areas = [keys].flat();
  return access === 'member' && areas.length === 1 && scope === `${String(areas[0])}:${kind}`;
}

describe('no agent is', () => {
  const list = (token: string, refreshToken?: string) =>
    fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(refreshToken === undefined ? {} : { 'x-refresh-token': refreshToken }),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });

  async function expectRefused(token: string, refreshToken?: string): Promise<void> {
    const response = await list(token, refreshToken);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await response.json()).toMatchObject({ code: 'INVALID_TOKEN' });
  }

  test('somebody who has left, from the moment that they have', async () => {
    const leaver = await service.addEmployee(admin);
    const key = await keyOf(leaver, ['read', 'write']);
    const agent = await connectAgent(service, key);
    expect((await agent.call('who_am_i')).isError).toBe(false);
    expect((await admin.delete(`/api/employees/${leaver.employeeId}/`)).status).toBe(200);
    await expect(agent.call('who_am_i')).rejects.toThrow('401');
    await expectRefused(key);
  });

  test('a revoked key', async () => {
    const { body } = await admin.post('/api/api-keys/', { name: 'Stolen', scopes: ['read'] });
    expect((await list(body.key)).status).toBe(200);
    expect((await admin.delete(`/api/api-keys/${body._id}/`)).status).toBe(200);
    await expectRefused(body.key);
  });

  test('a session, one of a person or one that a key opened', async () => {
    await expectRefused(admin.pair.access_token, admin.pair.refresh_token);
    const login = await keyOf(admin, ['login']);
    const { body: bound } = await service.anonymous.post(
      '/token-login/',
      { email: plain.email, company_id: plain.companyId },
      { headers: { authorization: `Bearer ${login}` } },
    );
    await expectRefused(bound.access_token, bound.refresh_token);
  });
});
