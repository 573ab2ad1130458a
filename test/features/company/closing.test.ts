import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { removeCompany } from '../../../server/features/removal/remove-company.ts';
import { createCaller, errorOf, type Actor } from '../../support/actor.ts';
import { listTables, readAllRows } from '../../support/all-rows.ts';
import { password, startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

const service = await startService();
const { database, clock, mailbox, app } = service;
const { db } = database;
const dayMs = 24 * 3_600_000;
const closed = { status: 409, code: 'COMPANY_CLOSED' };

type Closing = { owner: Actor; colleague: Actor; taskId: number; name: string };
let companies = 0;

/** A company in which something of everything has happened. */
async function startCompany(): Promise<Closing> {
  const name = `Company ${(companies += 1)}`;
  const owner = await service.registerCompany({ name });
  const colleague = await service.addEmployee(owner, { isAdmin: true });
  await owner.post('/employee/add/', {
    first_name: 'Invited',
    last_name: 'Person',
    email: `invited${companies}@example.com`,
    companyId: owner.companyId,
  });
  const webhook = { url: 'https://hooks.example.com/', events: ['task.created', 'comment.created'] };
  await owner.post('/api/webhooks/', webhook);
  const { taskId } = await startWork(owner, { allocatedHours: 1 });
  await colleague.post('/api/api-keys/', { name: 'Script', scopes: ['read', 'write', 'login'] });
  const say = (message: string, reply_to: number | null = null) =>
    colleague.post('/api/task-chats/', {
      taskId,
      sender: colleague.employeeId,
      message,
      mentionedEmails: [owner.email],
      reply_to,
    });
  const { body: comment } = await say('<p>Ready</p>');
  await say('<p>Yes</p>', comment._id);
  await owner.post(`/api/like-chat/${owner.employeeId}/${comment._id}/`);
  await owner.get(`/api/tasks/chat/${taskId}/`);
  const log = { task_id: taskId, employee_id: owner.employeeId };
  await owner.post('/tasklog/create/', {
    ...log,
    start_time: '2026-02-16T09:00:00Z',
    end_time: '2026-02-16T12:00:00Z',
  });
  await owner.put(`/api/working-hours/${owner.employeeId}/`, {
    validFrom: '2026-01-01',
    minutes: [480, 480, 480, 480, 480, 0, 0],
  });
  await owner.put(`/api/holidays/${owner.companyId}/`, {
    from: '2026-01-01',
    to: '2026-12-31',
    holidays: [{ date: '2026-05-01', name: 'May Day' }],
  });
  await owner.put(`/api/time-policy/${owner.companyId}/`, { lockAfterDays: 3, graceDays: 0 });
  await owner.put(`/api/notification-preferences/${owner.employeeId}/`, { message: { inApp: true, email: true } });
  await colleague.post('/api/tasklogs/timer/start/', { taskId });
  await service.drain();
  await app.auditSealer.run();
  return { owner, colleague, taskId, name };
}

const close = ({ owner, name }: Closing) => owner.post(`/api/company/${owner.companyId}/close/`, { name });
const closesAtOf = async ({ owner }: Closing) =>
  (await owner.get(`/company/${owner.companyId}/details/`)).body.closesAt;

/** Time passes, with sweeps, as on a running service: a sweep doubts a time that jumps by weeks. */
async function passDays(days: number): Promise<void> {
  for (let left = days; left > 0; left -= 10) {
    clock.advance({ days: Math.min(left, 10) });
    await app.sweep.run();
  }
}

/** The tables with rows of a company, with their number. */
async function countRows(companyId: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await listTables(db)) {
    const { rows: columns } = await sql`
      select from information_schema.columns
      where table_schema = 'public' and table_name = ${table} and column_name = 'company_id'`.execute(db);
    if (columns.length === 0) continue;
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)} where company_id = ${companyId}`.execute(db);
    if (rows[0]!.count > 0) counts[table] = rows[0]!.count;
  }
  return counts;
}

describe('a company that its owner closes', () => {
  test('is read and not changed, until it is reopened', async () => {
    const company = await startCompany();
    const { owner, colleague, taskId } = company;
    const path = `/api/company/${owner.companyId}/`;
    expect(await closesAtOf(company)).toBeNull();
    const closing = await close(company);
    expect(closing.status).toBe(200);
    const { closesAt, offer } = closing.body;
    expect((Date.parse(closesAt) - clock.now().getTime()) / dayMs).toBeCloseTo(30, 2);
    expect(offer).toContain('POST /api/exports/');
    expect((await close(company)).body).toEqual(closing.body);
    expect(await closesAtOf(company)).toBe(closesAt);

    expect((await colleague.get(`/api/tasks/${taskId}/`)).status).toBe(200);
    expect((await service.signIn(colleague.email)).companyId).toBe(owner.companyId);
    expect(errorOf(await owner.patch(`/api/tasks/${taskId}/`, { title: 'Changed' }))).toEqual(closed);
    expect(errorOf(await colleague.post('/api/projects/', { name: 'New' }))).toEqual(closed);
    expect(errorOf(await owner.put(`/company/${owner.companyId}/update/`, { name: 'New' }))).toEqual(closed);
    // The timer stops, and its time is logged.
    await service.drain();
    expect((await colleague.get(`/api/tasklogs/timer/${colleague.employeeId}/`)).body).toEqual({ timer: null });

    expect((await owner.post(`${path}reopen/`)).body.company_id).toBe(owner.companyId);
    expect(await closesAtOf(company)).toBeNull();
    expect((await owner.patch(`/api/tasks/${taskId}/`, { title: 'Changed' })).status).toBe(200);
    expect((await owner.post(`${path}reopen/`)).status).toBe(200);
    await passDays(31);
    expect((await service.signIn(owner.email)).companyId).toBe(owner.companyId);
  });

  test('is closed by its owner only, who repeats its name in a session of their own', async () => {
    const company = await startCompany();
    const { owner, colleague, name } = company;
    const neighbour = await service.registerCompany();
    const path = `/api/company/${owner.companyId}/close/`;
    expect(errorOf(await colleague.post(path, { name }))).toEqual({ status: 403, code: 'OWNER_REQUIRED' });
    expect(errorOf(await neighbour.post(path, { name }))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await owner.post(path, { name: 'Another' }))).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['name'],
    });
    const { body } = await owner.post('/api/api-keys/', { name: 'Script', scopes: ['write'] });
    const headers = { authorization: `Bearer ${body.key}` };
    const asKey = await createCaller(service.url).send('POST', path, { name }, { headers });
    expect(errorOf(asKey)).toEqual({ status: 403, code: 'SESSION_REQUIRED' });
    expect(await closesAtOf(company)).toBeNull();
    await close(company);
    const reopen = `/api/company/${owner.companyId}/reopen/`;
    expect(errorOf(await colleague.post(reopen))).toEqual({ status: 403, code: 'OWNER_REQUIRED' });
    expect(errorOf(await neighbour.post(reopen))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(await closesAtOf(company)).not.toBeNull();
  });

  test('tells all admins, and again three days before the end, and nobody else of anything', async () => {
    const company = await startCompany();
    const member = await service.addEmployee(company.owner);
    await company.owner.post('/api/tasks/', {
      projectId: (await company.owner.get(`/api/tasks/${company.taskId}/`)).body.projectId,
      title: 'Due',
      owner_id: member.employeeId,
      dueDate: new Date(clock.now().getTime() + 5 * 24 * 3_600_000).toISOString().slice(0, 10),
    });
    await service.drain();
    const told = mailbox.mails.length;
    await close(company);
    await service.drain();
    const admins = [company.owner.email, company.colleague.email].toSorted();
    const people = new Set([...admins, member.email]);
    const since = () =>
      mailbox.mails
        .slice(told)
        .filter(({ to }) => people.has(to))
        .map(({ to, subject }) => `${to}: ${subject}`);
    expect(since().toSorted()).toEqual(admins.map((to) => `${to}: ${company.name} was closed`));
    for (let day = 0; day < 28; day += 1) {
      clock.advance({ days: 1 });
      await app.mornings.run();
      await service.drain();
    }
    expect(since().slice(2).toSorted()).toEqual(admins.map((to) => `${to}: ${company.name} is removed in three days`));
  });

  test('mails no admin who has not accepted the invitation, however often it is closed and reopened', async () => {
    const company = await startCompany();
    const { owner } = company;
    const invited = {
      first_name: 'Eve',
      last_name: 'Outside',
      email: 'outside@example.com',
      companyId: owner.companyId,
    };
    const { body: employee } = await owner.post('/employee/add/', invited);
    await owner.patch(`/api/employees/${employee._id}/`, { isAdmin: true });
    await service.drain();
    const told = mailbox.mails.length;
    for (let times = 0; times < 2; times += 1) {
      await close(company);
      await service.drain();
      await owner.post(`/api/company/${owner.companyId}/reopen/`);
    }
    const since = mailbox.mails.slice(told).map(({ to }) => to);
    expect(since).toContain(owner.email);
    expect(since).not.toContain(invited.email);
  });

  test('mails an invitation once that was to be mailed while it was closed', async () => {
    const company = await startCompany();
    const { owner } = company;
    await service.drain();
    const names = { first_name: 'Eve', last_name: 'Late', companyId: owner.companyId };
    const [waiting, gone] = ['waiting@example.com', 'gone@example.com'];
    await owner.post('/employee/add/', { ...names, email: waiting });
    const { body: leaver } = await owner.post('/employee/add/', { ...names, email: gone });
    await owner.patch(`/api/employees/${leaver._id}/`, { is_active: false });
    const mails = () => mailbox.mails.map(({ to }) => to).filter((to) => to === waiting || to === gone);
    await close(company);
    await service.drain();
    expect(mails()).toEqual([]);
    for (let times = 0; times < 2; times += 1) {
      await owner.post(`/api/company/${owner.companyId}/reopen/`);
      await service.drain();
      expect(mails()).toEqual([waiting]);
      await close(company);
    }
  });

  test('of many closings and reopenings at once each finds one state', async () => {
    const company = await startCompany();
    const path = `/api/company/${company.owner.companyId}/`;
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => (index % 2 ? company.owner.post(`${path}reopen/`) : close(company))),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});

describe('a company whose time has come', () => {
  test('is entered by nobody and mails nobody, also while its removal has not begun', async () => {
    const [company, neighbour] = [await startCompany(), await startCompany()];
    const { owner, colleague } = company;
    await service.addEmployee(neighbour.owner, { email: colleague.email });
    await close(company);
    await service.drain();
    const login = (person: Actor) => service.anonymous.post('/login/', { email: person.email, password });
    await passDays(29);
    clock.advance({ hours: 23, minutes: 59 });
    const { pair } = await service.signIn(owner.email);
    const { body: choice } = await login(colleague);
    expect(choice.companies).toHaveLength(2);
    const told = mailbox.to(owner.email).length;

    clock.advance({ minutes: 2 });
    expect((await login(colleague)).body.company.company_id).toBe(neighbour.owner.companyId);
    expect((await login(owner)).body).toMatchObject({ company: null, employee: null });
    const chosen = await service.anonymous.post(
      '/token-login/',
      { email: colleague.email, company_id: owner.companyId },
      { headers: { authorization: `Bearer ${choice.login_ticket}` } },
    );
    expect(errorOf(chosen)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['company_id'] });
    const refreshed = await service.anonymous.post('/api/token/refresh/', { refresh_token: pair.refresh_token });
    expect(errorOf(refreshed)).toEqual({ status: 401, code: 'SESSION_ENDED' });
    await service.drain();
    expect(mailbox.to(owner.email)).toHaveLength(told);
  });

  test('is gone from every table, with accounts of nobody else, and no row of another one is touched', async () => {
    const [company, neighbour] = [await startCompany(), await startCompany()];
    const { owner, colleague } = company;
    const { companyId } = owner;
    // The colleague is in the neighbour's company too, the owner in no other one.
    const there = await service.addEmployee(neighbour.owner, { email: colleague.email });
    await app.auditSealer.run();
    await close(company);
    await service.drain();
    const filled = Object.keys(await countRows(companyId));
    expect(filled.length).toBeGreaterThan(30);

    await passDays(29);
    expect(Object.keys(await countRows(companyId))).toContain('companies');
    await passDays(1);
    expect(await countRows(companyId)).toEqual({});
    expect((await owner.get(`/company/${companyId}/details/`)).status).toBe(401);
    const accounts = await db
      .selectFrom('accounts')
      .where('email', 'in', [owner.email, colleague.email])
      .select('email')
      .execute();
    expect(accounts).toEqual([{ email: colleague.email }]);
    expect((await service.signIn(there.email)).companyId).toBe(neighbour.owner.companyId);
    const { rows: jobs } = await sql`select from jobs where payload ->> 'companyId' = ${String(companyId)}`.execute(db);
    expect(jobs).toEqual([]);

    const { rows } = await sql<{ subject_id: number; changes: unknown }>`
      select subject_id, changes from audit_log where company_id = 0 and operation = 'company.remove' and subject_id = ${companyId}`.execute(
      db,
    );
    expect(rows).toMatchObject([
      { changes: [{ event: 'company.removed', after: { by: 'owner', closedByEmployee: owner.employeeId } }] },
    ]);
  });

  test('is removed by itself: all rows that are not its own are as they were, and so is what is proved', async () => {
    const [company, neighbour] = [await startCompany(), await startCompany()];
    const { companyId } = company.owner;
    const own = new RegExp(String.raw`^\(("?)${companyId}\1,`);
    const others = async () => {
      const rows = await readAllRows(db);
      const shared = new Set([
        'audit_log',
        'accounts',
        'account_devices',
        'one_time_codes',
        'sessions',
        'jobs',
        'idempotent_answers',
        'sweep_rounds',
      ]);
      return [...rows]
        .filter(([table]) => !shared.has(table))
        .map(([table, all]) => [table, all.filter((row) => !own.test(row))]);
    };
    const before = await others();
    const { tokens } = app.services;
    const removal = { companyId, by: 'operator', now: clock.now() } as const;
    expect(await removeCompany({ database: app.services.database, tokens }, removal)).toBe(true);
    expect(await others()).toEqual(before);
    const { body } = await neighbour.owner.get(`/api/audit/company/${neighbour.owner.companyId}/verify/`);
    expect(body.isIntact).toBe(true);
  });

  test('goes on where it was interrupted, at any table', async () => {
    const company = await startCompany();
    const { companyId } = company.owner;
    await close(company);
    clock.advance({ days: 30 });
    const parts = { database: app.services.database, tokens: app.services.tokens };
    const removal = { companyId, by: 'owner', now: clock.now() } as const;
    for (let stops = 1, isRemoved = false; !isRemoved; stops += 1) {
      const stop = new AbortController();
      isRemoved = await removeCompany(parts, removal, { signal: stop.signal, onProgress: () => stop.abort() });
      expect(stops).toBeLessThan(60);
      // Nobody is in it from the first moment on.
      expect((await company.owner.get(`/company/${companyId}/details/`)).status).toBe(401);
    }
    expect(await countRows(companyId)).toEqual({});
    expect(await removeCompany(parts, removal)).toBe(false);
  });

  test('is removed once by nodes that do it at the same time', async () => {
    const company = await startCompany();
    const { companyId } = company.owner;
    const parts = { database: app.services.database, tokens: app.services.tokens };
    const removal = { companyId, by: 'operator', now: clock.now() } as const;
    const nodes = await Promise.allSettled(Array.from({ length: 4 }, () => removeCompany(parts, removal)));
    // One that loses a deadlock leaves the rest to the others.
    expect(nodes.filter((node) => node.status === 'fulfilled' && node.value)).toHaveLength(1);
    expect(await countRows(companyId)).toEqual({});
    const { rows } = await sql`
      select from audit_log where company_id = 0 and operation = 'company.remove' and subject_id = ${companyId}`.execute(
      db,
    );
    expect(rows).toHaveLength(1);
  });

  test('has a log that only its removal deletes', async () => {
    const { companyId } = await service.registerCompany();
    const scoped = app.services.database.forCompany(companyId).db;
    await expect(sql`select delete_audit_of_removed(${companyId}, 10)`.execute(scoped)).rejects.toThrow(
      'is not being removed',
    );
    const { rows } = await sql`select delete_audit_of_removed(0, 10) as deleted`.execute(scoped);
    expect(rows).toEqual([{ deleted: 0 }]);
  });

  test('is not removed if it was reopened a moment before', async () => {
    const company = await startCompany();
    const { companyId } = company.owner;
    await close(company);
    const end = new Date(clock.now().getTime() + 30 * 24 * 3_600_000);
    await company.owner.post(`/api/company/${companyId}/reopen/`);
    const parts = { database: app.services.database, tokens: app.services.tokens };
    expect(await removeCompany(parts, { companyId, by: 'owner', now: end })).toBe(false);
    expect((await company.owner.get(`/company/${companyId}/details/`)).status).toBe(200);
  });
});
