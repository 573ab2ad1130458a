import { describe, expect, test } from 'vitest';
import { withPresent } from '../../server/surfaces/mcp/present.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { agentOf } from './agent.ts';

/* What tools do with their arguments, beyond what their operations do. */

const service = await startService();
const { clock } = service;

async function start() {
  const admin = await service.registerCompany();
  const agent = await agentOf(service, admin);
  const { projectId, taskId } = await startWork(admin);
  return { admin, agent, projectId, taskId };
}

const issuesOf = ({ result }: { result: { error: { issues: { argument: string; code: string }[] } } }) =>
  result.error.issues.map(({ argument, code }) => `${argument} ${code}`);

describe('who_am_i', () => {
  test('says who, and when it is for them', async () => {
    const { admin, agent } = await start();
    const { result } = await agent.call('who_am_i');
    expect(result).toMatchObject({
      employee: { id: admin.employeeId, name: admin.name, email: admin.email, is_admin: true },
      company: { company_id: admin.companyId, timezone: expect.any(String) },
      key: { name: 'Agent', scopes: ['read', 'write'] },
    });
    expect(Date.parse(result.local_time)).toBe(Math.floor(Date.parse(result.now) / 1000) * 1000);
  });

  test.each([
    ['UTC', '2026-03-01T20:15:30+00:00', 'Sunday'],
    ['Asia/Kolkata', '2026-03-02T01:45:30+05:30', 'Monday'],
    ['America/St_Johns', '2026-03-01T16:45:30-03:30', 'Sunday'],
    ['Pacific/Kiritimati', '2026-03-02T10:15:30+14:00', 'Monday'],
  ])('says it in %s', (timezone, local_time, weekday) => {
    const now = new Date('2026-03-01T20:15:30.123Z');
    expect(withPresent({ company: { timezone } }, now)).toMatchObject({ now: now.toISOString(), local_time, weekday });
  });
});

describe('names for numbers', () => {
  test('are taken exactly, then without regard to case, then as a beginning, then as a part', async () => {
    const { agent, projectId } = await start();
    const titles = ['Winter fair', 'winter fair', 'Winter fair, the bill', 'The winter', 'Gear seven'];
    const ids: number[] = [];
    for (const title of titles) ids.push((await agent.call('save_task', { project_id: projectId, title })).result.id);
    const found = async (task_id: unknown) => {
      const answer = await agent.call('get_task', { task_id });
      return answer.isError ? issuesOf(answer) : answer.result.title;
    };
    expect(await found('Winter fair')).toBe('Winter fair');
    expect(await found('winter fair')).toBe('winter fair');
    expect(await found('WINTER FAIR')).toEqual(['task_id invalid_value']);
    expect(await found('the winter')).toBe('The winter');
    expect(await found('WINTER FAIR, ')).toBe('Winter fair, the bill');
    expect(await found('ear seven')).toBe('Gear seven');
    expect(await found(String(ids[4]))).toBe('Gear seven');
    expect(await found('Summer')).toEqual(['task_id not_found']);
    expect(await found(' ')).toEqual(['task_id too_small']);
    expect(await found('%')).toEqual(['task_id not_found']);
  });

  test('of several are not guessed: their numbers are told', async () => {
    const { agent, projectId } = await start();
    const make = async (title: string) => (await agent.call('save_task', { project_id: projectId, title })).result.id;
    const ids = [await make('Gear one'), await make('Gear two')];
    const { result } = await agent.call('get_task', { task_id: 'gear' });
    for (const id of ids) expect(result.error.issues[0].message).toContain(String(id));
    expect(result.error.remedy).toMatch(/call again/);
  });

  test('that are in more titles than are read are not guessed either: the one that is meant may be among the others', async () => {
    const { agent, projectId } = await start();
    const make = (title: string) => agent.call('save_task', { project_id: projectId, title });
    await make('Tent');
    for (let number = 1; number < 100; number += 1) await make(`The tent ${number}`);
    await make('Tent, the bill');
    const answer = await agent.call('get_task', { task_id: 'tent' });
    expect(issuesOf(answer)).toEqual(['task_id invalid_value']);
    expect(answer.result.error.issues[0].message).toContain('and more; give the number of one');
  });

  test('of people are names, addresses and me', async () => {
    const { admin, agent, projectId } = await start();
    const joan = await service.addEmployee(admin, { first_name: 'Joan', last_name: 'Clarke' });
    const save = async (owner_id: string) =>
      (
        await agent.call('save_task', {
          project_id: projectId,
          title: 'Gear',
          owner_id,
          collaborator_ids: ['me', joan.email],
        })
      ).result;
    expect(await save('joan')).toMatchObject({ owner_id: joan.employeeId });
    expect(await save(joan.email.toUpperCase())).toMatchObject({ owner_id: joan.employeeId });
    const mine = await save('me');
    expect(mine).toMatchObject({ owner_id: admin.employeeId });
    const collaborators = mine.collaborators.map(({ id }: { id: number }) => id);
    expect(new Set(collaborators)).toEqual(new Set([admin.employeeId, joan.employeeId]));
  });

  test('do not delete: that takes a number', async () => {
    const { agent, taskId, admin } = await start();
    const { body } = await admin.get(`/api/tasks/${taskId}/`);
    expect(issuesOf(await agent.call('delete', { task_id: body.title }))).toEqual(['task_id invalid_type']);
    expect((await agent.call('delete', { task_id: taskId })).result).toMatchObject({ success: true });
  });
});

describe('arguments', () => {
  test('that a tool does not take are refused, and nothing is done', async () => {
    const { admin, agent, projectId } = await start();
    const before = (await admin.get(`/api/tasks/company/${admin.companyId}/`)).body.total;
    const call = (args: Record<string, unknown>) =>
      agent.call('save_task', { project_id: projectId, title: 'Gear', ...args });
    expect(issuesOf(await call({ dueDate: '2026-03-01' }))).toEqual(['dueDate invalid_value']);
    expect(issuesOf(await call({ company_id: 1 }))).toEqual(['company_id invalid_value']);
    expect(issuesOf(await call({ cursor: 'x' }))).toEqual(['cursor invalid_format']);
    expect((await admin.get(`/api/tasks/company/${admin.companyId}/`)).body.total).toBe(before);
    // Taken by one operation of the tool, and not by the one that is meant.
    expect(issuesOf(await agent.call('timer', { action: 'stop', task_id: 1 }))).toEqual(['task_id mismatch']);
    expect(issuesOf(await agent.call('delete', { task_id: 1, log_id: 2 }))[0]).toMatch(/ mismatch$/);
    expect(issuesOf(await agent.call('delete'))[0]).toMatch(/ required$/);
    expect(issuesOf(await agent.call('timer', { action: 'dance' }))).toEqual(['action invalid_value']);
    expect(issuesOf(await agent.call('get_task', { task_id: 1, include: ['all'] }))).toEqual([
      'include.0 invalid_value',
    ]);
    expect(issuesOf(await agent.call('get_task', { task_id: 1, text_from: -1 }))).toEqual(['text_from invalid_type']);
    expect(issuesOf(await call({ idempotency_key: 7 }))).toEqual(['idempotency_key invalid_type']);
  });

  test('that are null count as left out, where a field cannot be emptied', async () => {
    const { agent, projectId } = await start();
    const { result: task } = await agent.call('save_task', {
      project_id: projectId,
      title: 'Gear',
      description: 'Long',
      status: null,
      owner_id: null,
      task_id: null,
      idempotency_key: null,
    });
    expect(task).toMatchObject({ title: 'Gear', status: 'todo', description: 'Long' });
    const { result: emptied } = await agent.call('save_task', { task_id: task.id, description: null, title: null });
    expect(emptied).toMatchObject({ title: 'Gear' });
    expect(emptied.description).toBeUndefined();
  });

  test('are named in errors as agents know them', async () => {
    const { agent, taskId } = await start();
    const log = { task_id: taskId, start_time: '2026-03-01T09:00:00Z', end_time: '2026-03-01T08:00:00Z' };
    expect(issuesOf(await agent.call('log_time', log))[0]).toMatch(/^end_time /);
    const answer = await agent.call('save_task', { project_id: 987_654_321, title: 'Gear', due_date: 'soon' });
    expect(issuesOf(answer)).toEqual(['due_date invalid_format']);
    expect(answer.result.error).toMatchObject({
      code: 'VALIDATION_FAILED',
      message: expect.stringMatching(/^due_date /),
      remedy: expect.any(String),
      request_id: expect.any(String),
    });
    const absent = await agent.call('save_task', { project_id: 987_654_321, title: 'Gear' });
    expect(issuesOf(absent)).toEqual(['project_id not_found']);
  });

  test('with an idempotency_key take effect once', async () => {
    const { admin, agent, projectId } = await start();
    const given = { project_id: projectId, title: 'Once', idempotency_key: 'k1' };
    const answers = [await agent.call('save_task', given), await agent.call('save_task', given)];
    expect(answers[1]!.result).toEqual(answers[0]!.result);
    const other = await agent.call('save_task', { ...given, title: 'Twice' });
    expect(other.result.error).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED', remedy: expect.stringMatching(/new/) });
    expect((await admin.get(`/api/tasks/company/${admin.companyId}/?q=once`)).body.total).toBe(1);
  });
});

test('64 agents that log the same time at once make one log', async () => {
  const { admin, agent, taskId } = await start();
  const log = { task_id: taskId, start_time: '2026-03-01T09:00:00Z', end_time: '2026-03-01T10:00:00Z' };
  const answers = await Promise.all(Array.from({ length: 64 }, () => agent.call('log_time', log)));
  expect(answers.filter(({ isError }) => !isError)).toHaveLength(1);
  const codes = new Set(answers.flatMap(({ result }) => result.error?.code ?? []));
  expect([...codes].filter((code) => !['DUPLICATE_TASK_LOG', 'RATE_LIMITED', 'OVERLOADED'].includes(code))).toEqual([]);
  expect((await admin.get(`/taskLogs/task/${taskId}/`)).body.taskLogs).toHaveLength(1);
});

test('what an agent does is in the audit log as its own', async () => {
  const { admin, agent, projectId } = await start();
  const { result } = await agent.call('save_task', { project_id: projectId, title: 'Audited' });
  await service.drain();
  const { body } = await admin.get(`/api/audit/company/${admin.companyId}/`);
  expect(body.results[0]).toMatchObject({
    operation: 'tasks.create',
    transport: 'mcp',
    employee_id: admin.employeeId,
    apiKeyId: expect.any(Number),
    changes: [expect.objectContaining({ event: 'task.created', id: result.id })],
  });
});

test('a write to a closed company is refused, and it can be read', async () => {
  const { admin, agent, taskId } = await start();
  await service.database.db
    .updateTable('companies')
    .set({ closed_at: clock.now(), closes_at: new Date(clock.now().getTime() + 1e9), closed_by_id: admin.employeeId })
    .where('company_id', '=', admin.companyId)
    .execute();
  expect((await agent.call('get_task', { task_id: taskId })).isError).toBe(false);
  expect((await agent.call('save_task', { task_id: taskId, status: 'done' })).result.error.code).toBe('COMPANY_CLOSED');
});
