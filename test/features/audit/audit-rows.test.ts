import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { nobody } from '../../../server/kernel/audit-log.ts';
import type { Actor } from '../../support/actor.ts';
import { password, startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* What is in the audit log: one row for each mutation, failed sign-ins, and what was refused. */

const service = await startService();
const { anonymous, database } = service;
let admin: Actor;
let member: Actor;
let neighbour: Actor;
let taskId: number;
let projectId: number;
beforeAll(async () => {
  admin = await service.registerCompany();
  member = await service.addEmployee(admin);
  neighbour = await service.registerCompany();
  ({ taskId, projectId } = await startWork(admin));
});

type Row = Record<string, unknown> & { operation: string; company_id: number; changes: Record<string, unknown>[] };

type Change = { event: string; before: unknown; after: unknown };

let requests = 0;
/** A request id of its own for a call, and the rows that bear it. */
function watched() {
  const requestId = `audit-${(requests += 1)}`;
  return {
    headers: { headers: { 'x-request-id': requestId } },
    async rows(): Promise<Row[]> {
      await service.app.services.audit.refusals.flush();
      const { rows } = await sql<Row>`
        select company_id, account_id, employee_id, api_key_id, session_id, network, transport, operation, subject_kind,
          subject_id, changes, result, error_code, times
        from audit_log where request_id = ${requestId} order by company_id, audit_id`.execute(database.db);
      return rows;
    },
  };
}

const who = ({ companyId, employeeId }: Actor) => ({ company_id: companyId, employee_id: employeeId });
const anyId = expect.any(Number) as number;

describe('a mutation has one row', () => {
  test('with who did it, from where, and what', async () => {
    const { headers, rows } = watched();
    const { body } = await admin.post('/api/projects/', { name: 'Short' });
    await admin.delete(`/api/projects/${body._id}/`, undefined, headers);
    expect(await rows()).toMatchObject([
      {
        ...who(admin),
        account_id: anyId,
        api_key_id: null,
        session_id: anyId,
        network: '127.0.0.1',
        transport: 'rest',
        operation: 'projects.delete',
        subject_kind: 'project',
        subject_id: anyId,
        result: 'done',
        error_code: null,
        times: 1,
      },
    ]);
  });

  test('over tRPC as over REST', async () => {
    const { _id } = await admin.trpc.projects.create.mutate({ name: 'By tRPC' });
    const { rows } = await sql<Row>`
      select transport, result from audit_log where operation = 'projects.create' and transport = 'trpc'`.execute(
      database.db,
    );
    expect(rows).toEqual([{ transport: 'trpc', result: 'done' }]);
    expect(_id).toBeGreaterThan(0);
  });

  test('with an API key', async () => {
    const { body: key } = await admin.post('/api/api-keys/', { name: 'Robot', scopes: ['write'] });
    const { headers, rows } = watched();
    const bearer = { authorization: `Bearer ${key.key}` };
    await anonymous.post('/api/projects/', { name: 'By key' }, { headers: { ...headers.headers, ...bearer } });
    expect(await rows()).toMatchObject([{ ...who(admin), api_key_id: key._id, session_id: null, account_id: null }]);
  });

  test('where its answer is stored for a retry, which has none', async () => {
    const { headers, rows } = watched();
    const once = { headers: { ...headers.headers, 'idempotency-key': 'audited once' } };
    await admin.post('/api/projects/', { name: 'Once' }, once);
    await admin.post('/api/projects/', { name: 'Once' }, once);
    expect(await rows()).toHaveLength(1);
  });

  test('where it ends with its last statements in one round trip', async () => {
    const { headers, rows } = watched();
    const times = { start_time: '2026-03-02T08:00:00Z', end_time: '2026-03-02T08:30:00Z' };
    const log = { task_id: taskId, employee_id: admin.employeeId, ...times };
    expect((await admin.post('/tasklog/create/', log, headers)).status).toBe(200);
    expect((await admin.post('/tasklog/create/', log, headers)).status).toBe(409);
    expect(await rows()).toMatchObject([{ ...who(admin), operation: 'taskLogs.create' }]);
  });

  test('and none where it fails', async () => {
    const { headers, rows } = watched();
    expect((await admin.post('/api/projects/', { name: '' }, headers)).status).toBe(400);
    expect(await rows()).toEqual([]);
  });

  test('and none where it is declared as not audited', async () => {
    const { headers, rows } = watched();
    await admin.post(`/notifications/mark-as-read-all/${admin.employeeId}/`, undefined, headers);
    await anonymous.post('/verify-email/', { email: admin.email }, headers);
    expect(await rows()).toEqual([]);
  });
});

describe('a comment', () => {
  test('is audited with a digest of what it says, the same each time', async () => {
    const { headers, rows } = watched();
    const secret = 'Nobody reads this twice';
    const { body } = await admin.post(
      '/api/task-chats/',
      { taskId, sender: admin.employeeId, message: secret },
      headers,
    );
    await admin.patch(`/api/edit-task-chats/${body._id}/`, { message: 'Other words' }, headers);
    await admin.delete(`/api/taskchat/${body._id}/`, undefined, headers);
    const [created, edited, deleted] = (await rows()).map(({ changes }) => changes[0] as Change);
    expect(created).toMatchObject({ event: 'comment.created', id: body._id, before: null });
    expect(edited!.before).toEqual(created!.after);
    expect(deleted!.before).toEqual(edited!.after);
    expect(edited!.after).not.toEqual(edited!.before);
    expect(JSON.stringify(await rows())).not.toMatch(/Nobody reads|Other words/);
  });

  test('that is read leaves no row', async () => {
    const { headers, rows } = watched();
    await member.get(`/api/tasks/chat/${taskId}/`, headers);
    await service.drain();
    expect(await rows()).toEqual([]);
    const { rows: jobs } = await sql`select 1 from audit_log where transport = 'job'`.execute(database.db);
    expect(jobs).toEqual([]);
  });
});

describe('a sign-in', () => {
  test('is a row of its company, with the session', async () => {
    const { headers, rows } = watched();
    await anonymous.post('/login/', { email: member.email, password }, headers);
    expect(await rows()).toMatchObject([
      {
        ...who(member),
        account_id: anyId,
        session_id: anyId,
        operation: 'auth.login',
        subject_kind: 'session',
        changes: [{ event: 'session.started', after: { method: 'password' } }],
      },
    ]);
  });

  test('that fails is a row of each company of the account', async () => {
    await admin.post('/employee/add/', {
      first_name: 'A',
      last_name: 'B',
      email: 'two@example.com',
      companyId: admin.companyId,
    });
    const two = await service.addEmployee(neighbour, { email: 'two@example.com' });
    const { rows: links } = await sql`
      update employees set account_id = (select account_id from accounts where email = 'two@example.com')
      where email = 'two@example.com' returning 1`.execute(database.db);
    expect(links).toHaveLength(2);
    const { headers, rows } = watched();
    await anonymous.post('/login/', { email: two.email, password: 'not the right one' }, headers);
    expect(await rows()).toMatchObject(
      [admin.companyId, neighbour.companyId].map((companyId) => ({
        company_id: companyId,
        operation: 'auth.login',
        result: 'refused',
        error_code: 'INVALID_CREDENTIALS',
        account_id: anyId,
        employee_id: anyId,
      })),
    );
  });

  test('that fails at an address that nobody has is a row of no company', async () => {
    const { headers, rows } = watched();
    await anonymous.post('/login/', { email: 'nobody@example.com', password: 'anything at all' }, headers);
    await anonymous.post('/otp-login/', { email: 'nobody@example.com', otp: '123456' }, headers);
    expect(await rows()).toMatchObject([
      { company_id: 0, account_id: null, employee_id: null, operation: 'auth.login' },
      { company_id: 0, account_id: null, operation: 'auth.otpLogin', error_code: 'INVALID_OTP' },
    ]);
  });

  test('at an operation that takes no address is a row of nobody, whatever address it is sent', async () => {
    const { headers, rows } = watched();
    await anonymous.post('/api/token/refresh/', { refresh_token: 'x', email: member.email }, headers);
    expect(await rows()).toMatchObject([{ company_id: 0, account_id: null, operation: 'auth.refresh' }]);
  });
});

describe('a file', () => {
  test('that is taken is a row with what was asked for; a read is none', async () => {
    const { headers, rows } = watched();
    const path = `/api/timesheets/${admin.companyId}/?from=2026-03-01&to=2026-03-31`;
    expect((await admin.get(path, headers)).status).toBe(200);
    expect(await rows()).toEqual([]);
    expect((await admin.get(`${path}&format=csv`, headers)).status).toBe(200);
    expect(await rows()).toMatchObject([
      {
        ...who(admin),
        operation: 'timesheets.get',
        subject_kind: 'company',
        changes: [{ event: 'file.exported', after: { from: '2026-03-01', to: '2026-03-31', format: 'csv' } }],
      },
    ]);
  });
});

describe('a refusal', () => {
  test('is a row with what was refused, and to whom', async () => {
    const { headers, rows } = watched();
    await member.delete(`/api/employees/${admin.employeeId}/`, undefined, headers);
    expect(await rows()).toMatchObject([
      {
        ...who(member),
        operation: 'employees.delete',
        subject_kind: 'employee',
        subject_id: admin.employeeId,
        result: 'refused',
        error_code: 'ADMIN_REQUIRED',
        changes: [],
      },
    ]);
  });

  test('of another company’s thing is a row of the caller’s company', async () => {
    const { headers, rows } = watched();
    await neighbour.patch(`/api/projects/${projectId}/`, { name: 'Mine' }, headers);
    expect(await rows()).toMatchObject([{ ...who(neighbour), error_code: 'NOT_FOUND', subject_id: projectId }]);
  });

  test('that is repeated is counted', async () => {
    const { headers, rows } = watched();
    for (let time = 0; time < 5; time += 1)
      await member.delete(`/api/employees/${admin.employeeId}/`, undefined, headers);
    expect(await rows()).toMatchObject([{ times: 5 }]);
  });

  test('of which there are many is counted with the others of its company', async () => {
    const before = await count();
    for (let id = 1; id <= 50; id += 1) await member.delete(`/api/employees/${1000 + id}/`);
    await service.app.services.audit.refusals.flush();
    const after = await count();
    expect({ rows: after.rows - before.rows, times: after.times - before.times }).toEqual({ rows: 21, times: 50 });
    expect(after.others).toBe(30);
  });

  test.each(['a\0b', 'a\uD800b'])('with a text that no row can store, %j, loses no other one', async (odd) => {
    const { headers, rows } = watched();
    await anonymous.post('/login/', { email: member.email, password: 'not the right one' }, headers);
    await anonymous.post('/api/token/refresh/', { refresh_token: 'x', email: odd }, headers);
    expect(await rows()).toMatchObject([{ company_id: 0, operation: 'auth.refresh' }, who(member)]);
  });

  test('that cannot be written loses no other one of its batch', async () => {
    const { headers, rows } = watched();
    const { refusals } = service.app.services.audit;
    const unwritable = {
      ...nobody,
      network: null,
      requestId: 'a\0b',
      transport: 'rest',
      operation: 'auth.login',
    } as const;
    await member.delete(`/api/employees/${admin.employeeId}/`, undefined, headers);
    refusals.note({ ...unwritable, subject: null, errorCode: 'INVALID_CREDENTIALS', email: null });
    await neighbour.patch(`/api/projects/${projectId}/`, { name: 'Mine' }, headers);
    expect(await rows()).toMatchObject([who(member), who(neighbour)]);
    expect(service.log()).toContain('refused calls could not be written to the audit log');
  });

  async function count() {
    const { rows } = await sql<{ rows: number; times: number; others: number }>`
      select count(*) as rows, sum(times) as times, sum(times) filter (where operation = '*') as others
      from audit_log where company_id = ${admin.companyId} and result = 'refused'`.execute(database.db);
    return rows[0]!;
  }
});

describe('the database', () => {
  test.each(['update audit_log set operation = operation', 'delete from audit_log', 'truncate audit_log'])(
    'refuses: %s',
    async (statement) => {
      await expect(sql.raw(statement).execute(database.db)).rejects.toThrow('audit_log is only ever added to');
    },
  );
});
