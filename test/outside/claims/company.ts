import { describe, expect, test } from 'vitest';
import { got, said } from '../caller.ts';
import { apple, service } from '../running.ts';
import { addLog, addProject, addTask, fields, fieldsOf } from '../work.ts';

/*
 * Contract 4: registration, company and statistics.
 *
 * Not to be seen from outside: that a registration which fails half-way leaves nothing behind (test/features/accounts/registration.test.ts),
 * that a claimed appleUserId ends after 24 hours (test/features/accounts/identity-login.test.ts), and payments, which nothing makes yet.
 */

const { anonymous } = service;
const admin = await service.register({ company_name: 'Details' });
const company = fields('company_id, name, timezone, owner_id, createdAt, updatedAt');
const details = async (who = admin) => got(await who.get(`/company/${who.companyId}/details/`));
const dayMs = 24 * 3_600_000;

const registration = async (email: string, extra: object = {}) => ({
  company_name: 'New',
  email,
  otp: await service.codeFor(email, '/get-register-otp/'),
  first_name: 'Ada',
  last_name: 'Lovelace',
  ...extra,
});
const register = (body: object) => anonymous.post('/api/create-company-and-employee/', body);

describe('contract 4, POST /api/create-company-and-employee/', () => {
  test('answers a login result and the subscription: a trial of 30 days', async () => {
    const body = got(await register(await registration(service.newEmail())));
    expect(fieldsOf(body)).toEqual(
      fields('access_token, refresh_token, token_type, expires_in, employee, company, subscription'),
    );
    expect(body.employee).toMatchObject({ isAdmin: true, isActive: true, invitationStatus: 'accepted' });
    expect(body.company.company_name).toBe('New');
    const { subscription } = body;
    expect(fieldsOf(subscription)).toEqual(fields('_id, plan, status, startsAt, endsAt, trial'));
    expect(subscription).toMatchObject({ status: 'trialing', trial: true });
    expect(Date.parse(subscription.endsAt) - Date.parse(subscription.startsAt)).toBe(30 * dayMs);
  });

  test('makes a company that works at once: notification setup, projects, lists', async () => {
    const boss = await service.register();
    const preferences = got(await boss.get(`/api/notification-preferences/${boss._id}/`));
    expect(fieldsOf(preferences)).toEqual(fields('task, project, need_attention, message, notice'));
    expect((await addProject(boss)).companyId).toBe(boss.companyId);
    expect(got(await boss.get(`/employee/list/${boss.companyId}/`)).employees).toHaveLength(1);
  });

  test('uses up the code', async () => {
    const body = await registration(service.newEmail());
    expect(said(await register(body))).toBe('200');
    expect(said(await register(body))).toBe('401 INVALID_OTP');
  });

  test('leaves the code as it is where the input is not valid', async () => {
    const body = await registration(service.newEmail());
    expect(said(await register({ ...body, first_name: '' }))).toMatch(/^400 VALIDATION_FAILED first_name:/);
    expect(said(await register({ ...body, company_name: undefined }))).toBe(
      '400 VALIDATION_FAILED company_name:required',
    );
    expect(said(await register(body))).toBe('200');
  });

  test('refuses a wrong code', async () => {
    const body = await registration(service.newEmail());
    expect(said(await register({ ...body, otp: body.otp === '000000' ? '000001' : '000000' }))).toBe('401 INVALID_OTP');
  });

  test('takes referral_code and appleUserId', async () => {
    const extra = { referral_code: 'FRIEND', appleUserId: 'apple-outside-1' };
    expect(said(await register(await registration(service.newEmail(), extra)))).toBe('200');
  });

  test('links the Apple identity that proves a claimed appleUserId, with a relay address, once', async () => {
    const boss = got(await register(await registration(service.newEmail(), { appleUserId: 'apple-outside-2' })));
    const relay = 'hidden-outside@privaterelay.appleid.com';
    const enter = async (email: string | null, subject: string) =>
      anonymous.post('/api/apple-login/', { token: await apple.sign({ email, subject }) });
    expect(got(await enter(relay, 'apple-outside-2')).employee._id).toBe(boss.employee._id);
    expect(got(await enter(null, 'apple-outside-2')).employee._id).toBe(boss.employee._id);
  });

  test('gives a claimed appleUserId no other identity, and proves nothing by itself', async () => {
    const boss = got(await register(await registration(service.newEmail(), { appleUserId: 'apple-outside-3' })));
    const enter = async (email: string | null, subject: string) =>
      anonymous.post('/api/apple-login/', { token: await apple.sign({ email, subject }) });
    expect(said(await enter(null, 'apple-outside-4'))).toBe('401 INVALID_IDENTITY_TOKEN');
    expect(got(await enter(service.newEmail(), 'apple-outside-3')).employee).toBeNull();
    expect(boss.employee.isAdmin).toBe(true);
  });
});

describe('contract 4, GET /company/{company_id}/details/', () => {
  test('answers company, latestPayment, subscriptions, plans, and when it ends', async () => {
    const body = await details();
    expect(fieldsOf(body)).toEqual(fields('company, latestPayment, subscriptions, plans, closesAt'));
    expect(fieldsOf(body.company)).toEqual(company);
    expect(body.company).toMatchObject({ company_id: admin.companyId, name: 'Details', owner_id: admin._id });
    expect(body.latestPayment).toBeNull();
    expect(body.subscriptions).toHaveLength(1);
    expect(fieldsOf(body.subscriptions[0])).toEqual(fields('_id, plan, status, startsAt, endsAt, trial'));
  });

  test('lists all plans, with the way to each', async () => {
    const { plans } = await details();
    for (const plan of plans)
      expect(fieldsOf(plan)).toEqual(
        fields('_id, code, name, pricePerMonth, currency, maxEmployees, storageBytes, change'),
      );
    const changes = plans.map((plan: { change: string }) => plan.change);
    expect(changes.filter((change: string) => change === 'current')).toHaveLength(1);
    for (const change of changes) expect(['current', 'upgrade', 'downgrade']).toContain(change);
  });

  test('is for every employee of the company', async () => {
    const member = await service.join(admin);
    expect((await details(member)).company.name).toBe('Details');
  });
});

describe('contract 4, PUT /company/{company_id}/update/', () => {
  const update = (body: object) => admin.put(`/company/${admin.companyId}/update/`, body);

  test('changes name and time zone, together or each', async () => {
    const body = got(await update({ name: 'Renamed', timezone: 'America/New_York' }));
    expect(fieldsOf(body)).toEqual(company);
    expect(body).toMatchObject({ name: 'Renamed', timezone: 'America/New_York' });
    expect(got(await update({ name: 'Details' }))).toMatchObject({ name: 'Details', timezone: 'America/New_York' });
    expect(got(await update({ timezone: 'UTC' }))).toMatchObject({ name: 'Details', timezone: 'UTC' });
  });

  test('takes IANA time zone names only', async () => {
    for (const timezone of ['+02:00', 'Mars/Olympus', 'EST5', 'GMT+3', '', 'Europe/berlin!'])
      expect([timezone, said(await update({ timezone }))]).toEqual([
        timezone,
        expect.stringMatching(/^400 VALIDATION_FAILED timezone:/),
      ]);
    for (const timezone of ['Asia/Kolkata', 'Europe/Berlin', 'UTC'])
      expect(got(await update({ timezone })).timezone).toBe(timezone);
  });
});

describe('contract 4, GET /task-statistics/{company_id}/', () => {
  test('counts projects, tasks, hours and employees', async () => {
    const boss = await service.register();
    got(await boss.put(`/company/${boss.companyId}/update/`, { timezone: 'UTC' }));
    const project = await addProject(boss);
    const archived = await addProject(boss);
    got(await boss.patch(`/api/projects/${archived._id}/`, { status: 'archived' }));
    const late = await addTask(boss, { projectId: project._id, dueDate: '2020-01-01' });
    for (const status of ['in_progress', 'in_review', 'done']) await addTask(boss, { projectId: project._id, status });
    await addLog(boss, late._id, 8);
    const end = new Date(Date.now() - 1000);
    const now = {
      task_id: late._id,
      employee_id: boss._id,
      start_time: new Date(end.getTime() - 1000).toISOString(),
      end_time: end.toISOString(),
    };
    got(await boss.post('/tasklog/create/', now));
    const gone = await service.invite(boss);
    got(await boss.patch(`/api/employees/${gone._id}/`, { is_active: false }));
    const body = got(await boss.get(`/task-statistics/${boss.companyId}/`));
    expect(fieldsOf(body)).toEqual(fields('projects, tasks, hours, employees'));
    expect(body).toMatchObject({
      projects: { total: 2, active: 1 },
      tasks: {
        total: 4,
        byStatus: { todo: 1, in_progress: 1, in_review: 1, done: 1 },
        overdue: 1,
        completedThisWeek: 1,
      },
      employees: { total: 2, active: 1 },
    });
    expect(fieldsOf(body.hours)).toEqual(fields('today, thisWeek, thisMonth, total'));
    expect(body.hours.total).toBeGreaterThanOrEqual(1);
    expect(body.hours.thisMonth).toBeLessThan(1);
  });
});
