import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { acceptInvitation, startService } from '../../support/service.ts';

const service = await startService();
const { mailbox } = service;
const admin = await service.registerCompany({ name: 'Engines' });
const foreigner = await service.registerCompany({ name: 'Elsewhere' });
const member = await service.addEmployee(admin, { first_name: 'Mary', last_name: 'Member', salary: 1000.5 });
const notFound = { status: 404, code: 'NOT_FOUND' };
const absentId = 999_999;

let addresses = 0;
const newAddress = () => `new${(addresses += 1)}@example.com`;
const grace = () => ({ first_name: 'Grace', last_name: 'Hopper', companyId: admin.companyId, email: newAddress() });
const firstNames = (people: { first_name: string }[]) => people.map((one) => one.first_name);
const read = async (actor: Actor, employeeId: number) => (await actor.get(`/employee/me/${employeeId}/`)).body;

describe('adding an employee', () => {
  test('answers the whole record, with null for what was not said', async () => {
    const email = 'Grace.Hopper@Example.com';
    const { status, body } = await admin.post('/employee/add/', {
      ...grace(),
      email,
      phone: ' +1 202 555 0143 ',
      designation: '',
      salary: null,
      isAdmin: true,
      is_deleted: true,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      _id: expect.any(Number),
      invitationStatus: 'pending',
      first_name: 'Grace',
      last_name: 'Hopper',
      name: 'Grace Hopper',
      email: 'grace.hopper@example.com',
      phone: '+1 202 555 0143',
      designation: null,
      companyId: admin.companyId,
      salary: null,
      isAdmin: false,
      isTeamLeader: false,
      is_active: true,
      isActive: true,
      isDeleted: false,
      date_of_birth: null,
      date_of_joining: null,
      gender: null,
      country_code: null,
      profilePicture: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(await read(member, body._id)).toEqual(body);
  });

  test('invites the address once, saying who invites to which company and where to go', async () => {
    const input = grace();
    await admin.post('/employee/add/', input);
    await service.drain();
    const [mail, ...more] = mailbox.to(input.email);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ subject: 'Ada Lovelace invited you to Engines', template: 'invitation' });
    expect(mail!.text).toContain(admin.email);
    expect(mail!.text).toContain('Engines');
    expect(mail!.text).toContain('https://app.example.test');
  });

  test('invites nobody who was deleted before the mail went out', async () => {
    const input = grace();
    const { body } = await admin.post('/employee/add/', input);
    await admin.delete(`/api/employees/${body._id}/`);
    await service.drain();
    expect(mailbox.to(input.email)).toEqual([]);
  });

  test('gives an account that works elsewhere a second place, and leaves the first alone', async () => {
    const before = await read(foreigner, foreigner.employeeId);
    const { status, body } = await admin.post('/employee/add/', { ...grace(), email: foreigner.email });
    expect(status).toBe(200);
    expect(await read(foreigner, foreigner.employeeId)).toEqual(before);
    await acceptInvitation(service.database, {
      companyId: admin.companyId,
      email: foreigner.email,
      now: service.clock.now(),
    });
    const here = await service.signIn(foreigner.email, admin.companyId);
    expect(here.employeeId).toBe(body._id);
  });

  test('refuses an address that is an employee already, and sends no second invitation', async () => {
    const input = grace();
    await admin.post('/employee/add/', input);
    const again = await admin.post('/employee/add/', { ...input, email: input.email.toUpperCase() });
    expect(errorOf(again)).toEqual({ status: 409, code: 'EMPLOYEE_EXISTS' });
    await service.drain();
    expect(mailbox.to(input.email)).toHaveLength(1);
  });

  test('refuses the address of a deleted employee and says how to restore them', async () => {
    const input = grace();
    const { body } = await admin.post('/employee/add/', input);
    await admin.delete(`/api/employees/${body._id}/`);
    const again = await admin.post('/employee/add/', input);
    expect(errorOf(again)).toEqual({ status: 409, code: 'EMPLOYEE_EXISTS' });
    expect(again.body.detail).toContain(`/api/employees/${body._id}/restore/`);
  });

  test('makes one employee when 12 requests add one address at once', async () => {
    const input = grace();
    const answers = await Promise.all(Array.from({ length: 12 }, () => admin.post('/employee/add/', input)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    await service.drain();
    expect(mailbox.to(input.email)).toHaveLength(1);
  });

  test("refuses another company's identifier like one of none", async () => {
    const input = grace();
    for (const companyId of [foreigner.companyId, absentId]) {
      const answer = await admin.post('/employee/add/', { ...input, companyId });
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['companyId'] });
      expect(answer.body.issues[0].code).toBe('not_found');
    }
    await service.drain();
    expect(mailbox.to(input.email)).toEqual([]);
  });

  test('is for admins only', async () => {
    expect(errorOf(await member.post('/employee/add/', grace()))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
  });

  test('names every field that is wrong', async () => {
    const answer = await admin.post('/employee/add/', { first_name: '', email: 'x', phone: 7, salary: -1 });
    expect(errorOf(answer)).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['first_name', 'last_name', 'email', 'companyId', 'phone', 'salary'],
    });
  });
});

describe('reading an employee', () => {
  test('is open to the company, and the salary to admins and oneself', async () => {
    const other = await service.addEmployee(admin);
    const as = async (actor: Actor) => (await read(actor, member.employeeId)).salary;
    expect([await as(admin), await as(member), await as(other)]).toEqual([1000.5, 1000.5, null]);
  });

  test("answers 404 alike for another company's and for nobody", async () => {
    const foreign = await admin.get(`/employee/me/${foreigner.employeeId}/`);
    const absent = await admin.get(`/employee/me/${absentId}/`);
    expect(errorOf(foreign)).toEqual(notFound);
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...absent.body, requestId: '' });
  });
});

describe('the lists', () => {
  test('are alphabetical as people sort, and each holds whom it says', async () => {
    const boss = await service.registerCompany({ firstName: 'zoe' });
    const add = async (first_name: string) =>
      (await boss.post('/employee/add/', { ...grace(), companyId: boss.companyId, first_name })).body;
    for (const name of ['Émile', 'eve', 'Ärne', 'bob', 'Zed', 'Anna']) await add(name);
    const [idle, gone] = [await add('Idle'), await add('Gone')];
    await boss.patch(`/api/employees/${idle._id}/`, { is_active: false });
    await boss.delete(`/api/employees/${gone._id}/`);

    const active = (await boss.get(`/employee/list/activeUsers/${boss.companyId}/`)).body;
    expect(firstNames(active.employees)).toEqual(['Anna', 'Ärne', 'bob', 'Émile', 'eve', 'Zed', 'zoe']);
    expect(active.deletedEmployees).toEqual([{ _id: gone._id, name: 'Gone Hopper' }]);
    const inactive = (await boss.get(`/employee/list/InactiveUsers/${boss.companyId}/`)).body;
    expect(firstNames(inactive.employees)).toEqual(['Gone', 'Idle']);
    const all = (await boss.get(`/employee/list/${boss.companyId}/`)).body;
    expect(all.employees).toHaveLength(9);
    expect(Object.keys(all)).toEqual(['employees']);
  });

  test('hide salaries from members', async () => {
    const { body } = await member.get(`/employee/list/${admin.companyId}/`);
    const paid = body.employees.filter((one: { salary: number | null }) => one.salary !== null);
    expect(paid.map((one: { _id: number }) => one._id)).toEqual([member.employeeId]);
  });

  test("answer 404 for another company's", async () => {
    for (const list of ['', 'activeUsers/', 'InactiveUsers/']) {
      const foreign = await admin.get(`/employee/list/${list}${foreigner.companyId}/`);
      expect(errorOf(foreign)).toEqual(notFound);
    }
  });
});

describe('deleting and restoring', () => {
  test('ends the sessions and keys at once, keeps the record, and gives everything back', async () => {
    const leaver = await service.addEmployee(admin, { designation: 'Nurse', isTeamLeader: true });
    const path = `/api/employees/${leaver.employeeId}/`;
    const now = service.clock.now();
    await service.database.db
      .insertInto('api_keys')
      .values({
        company_id: admin.companyId,
        employee_id: leaver.employeeId,
        name: 'robot',
        key_hash: 'hash',
        key_start: 'wms_a',
        scopes: ['read'],
        created_at: now,
      })
      .execute();

    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await admin.delete(path);
      expect({ status, body }).toEqual({ status: 200, body: { success: true } });
    }
    expect(await read(admin, leaver.employeeId)).toMatchObject({ isDeleted: true, isActive: false, is_active: false });
    expect(errorOf(await leaver.get('/api/sessions/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    const key = await service.database.db
      .selectFrom('api_keys')
      .where('company_id', '=', admin.companyId)
      .where('employee_id', '=', leaver.employeeId)
      .select('revoked_at')
      .executeTakeFirstOrThrow();
    expect(key.revoked_at).not.toBeNull();

    const revive = await admin.patch(path, { is_active: true });
    expect(errorOf(revive)).toEqual({ status: 409, code: 'EMPLOYEE_DELETED' });
    for (let time = 0; time < 2; time += 1) {
      const { body } = await admin.post(`${path}restore/`);
      expect(body).toMatchObject({ isDeleted: false, isActive: true, isTeamLeader: true, designation: 'Nurse' });
    }
    expect(errorOf(await leaver.get('/api/sessions/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect((await service.signIn(leaver.email)).employeeId).toBe(leaver.employeeId);
  });

  test("are for admins, and another company's employee is not there", async () => {
    for (const send of [
      (actor: Actor, id: number) => actor.delete(`/api/employees/${id}/`),
      (actor: Actor, id: number) => actor.post(`/api/employees/${id}/restore/`),
    ]) {
      expect(errorOf(await send(member, admin.employeeId))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
      expect(errorOf(await send(admin, foreigner.employeeId))).toEqual(notFound);
      expect(errorOf(await send(admin, absentId))).toEqual(notFound);
    }
    expect((await foreigner.get('/api/sessions/')).status).toBe(200);
  });
});
