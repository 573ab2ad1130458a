import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { password, startService } from '../../support/service.ts';

const service = await startService();
const admin = await service.registerCompany();
const foreigner = await service.registerCompany();
const member = await service.addEmployee(admin, { first_name: 'Mary', last_name: 'Member', salary: 10 });
const path = (id: number) => `/api/employees/${id}/`;
const read = async (actor: Actor, id: number) => (await actor.get(`/employee/me/${id}/`)).body;
const sessionEnded = { status: 401, code: 'SESSION_ENDED' };
const isIn = async (actor: Actor) => (await actor.get('/api/sessions/')).status === 200;

const accountOf = (email: string) =>
  service.database.db
    .selectFrom('accounts')
    .where('email', '=', email)
    .select(['account_id', 'password_hash'])
    .executeTakeFirst();

let addresses = 0;
const newAddress = () => `moved${(addresses += 1)}@example.com`;

describe('a change of an employee', () => {
  test('sets what is sent, clears what is null, and leaves the rest and the neighbour alone', async () => {
    const person = await service.addEmployee(admin, { first_name: 'Jo', last_name: 'Old', designation: 'Nurse' });
    const neighbour = await read(admin, member.employeeId);
    const before = await read(admin, person.employeeId);
    const profile = {
      last_name: 'New',
      phone: '1',
      date_of_birth: '1990-02-28',
      date_of_joining: '2020-01-01',
      gender: 'x',
      country_code: 'GB',
    };
    expect(
      (await person.patch(path(person.employeeId), { ...profile, _id: 1, companyId: 7, isDeleted: true })).body,
    ).toEqual({
      ...before,
      ...profile,
      name: 'Jo New',
      updatedAt: expect.any(String),
    });
    const { body } = await admin.patch(path(person.employeeId), {
      phone: null,
      gender: '',
      designation: null,
      salary: 12.34,
      isTeamLeader: true,
    });
    expect(body).toMatchObject({ phone: null, gender: null, designation: null, salary: 12.34, isTeamLeader: true });
    expect(body).toMatchObject({ last_name: 'New', country_code: 'GB', isAdmin: false });
    expect(await read(admin, member.employeeId)).toEqual(neighbour);
  });

  test('keeps a name that was set by itself until null brings "first last" back', async () => {
    const person = await service.addEmployee(admin, { first_name: 'Jo', last_name: 'March' });
    const nameAfter = async (patch: object) => (await person.patch(path(person.employeeId), patch)).body.name;
    expect(await nameAfter({ name: 'Josephine M.' })).toBe('Josephine M.');
    expect(await nameAfter({ last_name: 'Bhaer' })).toBe('Josephine M.');
    expect(await nameAfter({ name: null })).toBe('Jo Bhaer');
  });

  test('answers the record unchanged where nothing is sent', async () => {
    const before = await read(member, member.employeeId);
    expect((await member.patch(path(member.employeeId), {})).body).toEqual(before);
  });

  test('loses nothing when many fields change at once', async () => {
    const person = await service.addEmployee(admin);
    const patches = [{ phone: '5' }, { gender: 'y' }, { country_code: 'DE' }, { designation: 'Pilot' }, { salary: 5 }];
    await Promise.all(patches.map((patch) => admin.patch(path(person.employeeId), patch)));
    expect(await read(admin, person.employeeId)).toMatchObject(Object.assign({}, ...patches));
  });

  test('of standing is for admins, on oneself too, and changes nothing otherwise', async () => {
    const before = await read(admin, member.employeeId);
    const standing = {
      isAdmin: true,
      isTeamLeader: true,
      is_active: true,
      salary: 1e6,
      designation: 'Boss',
      email: 'boss@example.com',
    };
    for (const [field, value] of Object.entries(standing)) {
      const answer = await member.patch(path(member.employeeId), { phone: '9', [field]: value });
      expect(errorOf(answer)).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
      expect(answer.body.detail).toContain(field);
    }
    expect(await read(admin, member.employeeId)).toEqual(before);
  });

  test('of somebody else is for admins', async () => {
    const answer = await member.patch(path(admin.employeeId), { first_name: 'Eve' });
    expect(errorOf(answer)).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await read(admin, admin.employeeId)).first_name).toBe('Ada');
  });

  test("answers 404 alike for another company's and for nobody, from every caller", async () => {
    for (const actor of [admin, member]) {
      for (const patch of [{ phone: '1' }, { isAdmin: false }]) {
        const foreign = await actor.patch(path(foreigner.employeeId), patch);
        const absent = await actor.patch(path(999_999), patch);
        expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
        expect({ ...foreign.body, requestId: '' }).toEqual({ ...absent.body, requestId: '' });
      }
    }
    expect(await read(foreigner, foreigner.employeeId)).toMatchObject({ phone: null, isAdmin: true });
  });

  test('names every field that is wrong', async () => {
    const wrong = {
      first_name: null,
      date_of_birth: '1990-02-30',
      email: 'x',
      salary: -1,
      isAdmin: 'yes',
      is_active: null,
    };
    const { issues } = errorOf(await admin.patch(path(member.employeeId), wrong));
    expect(issues?.toSorted()).toEqual(Object.keys(wrong).toSorted());
  });
});

describe('a deactivation', () => {
  test("ends that employee's sessions at once and nobody else's, and lets them in again afterwards", async () => {
    const person = await service.addEmployee(admin);
    const other = await service.addEmployee(admin);
    const { body } = await admin.patch(path(person.employeeId), { is_active: false });
    expect(body).toMatchObject({ is_active: false, isActive: false, isDeleted: false });
    expect(errorOf(await person.get('/api/sessions/'))).toEqual(sessionEnded);
    const refresh = await person.post('/api/token/refresh/', { refresh_token: person.pair.refresh_token });
    expect(errorOf(refresh)).toEqual(sessionEnded);
    expect(await isIn(other)).toBe(true);

    await admin.patch(path(person.employeeId), { is_active: true });
    expect(errorOf(await person.get('/api/sessions/'))).toEqual(sessionEnded);
    expect(await isIn(await service.signIn(person.email))).toBe(true);
  });
});

describe('the last active admin', () => {
  const lastAdmin = { status: 409, code: 'LAST_ADMIN' };

  test('can be neither demoted, deactivated nor deleted, and stays signed in', async () => {
    const boss = await service.registerCompany();
    const idle = await service.addEmployee(boss, { isAdmin: true });
    await boss.patch(path(idle.employeeId), { is_active: false });
    for (const patch of [{ isAdmin: false }, { is_active: false }])
      expect(errorOf(await boss.patch(path(boss.employeeId), patch))).toEqual(lastAdmin);
    expect(errorOf(await boss.delete(path(boss.employeeId)))).toEqual(lastAdmin);
    expect(await read(boss, boss.employeeId)).toMatchObject({ isAdmin: true, isActive: true, isDeleted: false });

    await boss.patch(path(idle.employeeId), { is_active: true });
    expect((await boss.patch(path(boss.employeeId), { isAdmin: false })).body.isAdmin).toBe(false);
  });

  test.each([
    ['demote', (actor: Actor, id: number) => actor.patch(path(id), { isAdmin: false })],
    ['deactivate', (actor: Actor, id: number) => actor.patch(path(id), { is_active: false })],
    ['delete', (actor: Actor, id: number) => actor.delete(path(id))],
  ])('remains when all admins %s each other at the same time', async (_, leave) => {
    const boss = await service.registerCompany();
    const admins = [boss];
    while (admins.length < 4) admins.push(await service.addEmployee(boss, { isAdmin: true }));
    const answers = await Promise.all(
      admins.flatMap((actor) => admins.map((target) => leave(actor, target.employeeId))),
    );
    expect(new Set(answers.map(({ status }) => status)).has(500)).toBe(false);
    const left = await service.database.db
      .selectFrom('employees')
      .where('company_id', '=', boss.companyId)
      .where('is_admin', '=', true)
      .where('is_active', '=', true)
      .select('employee_id')
      .execute();
    expect(left).toHaveLength(1);
  });
});

describe('a change of the address', () => {
  test('invites the new address, and ends the sessions and API keys of the employee', async () => {
    const person = await service.addEmployee(admin);
    const { key } = (await person.post('/api/api-keys/', { name: 'Script', scopes: ['read'] })).body;
    const email = newAddress();
    const { body } = await admin.patch(path(person.employeeId), { email: email.toUpperCase() });
    expect(body).toMatchObject({ email, invitationStatus: 'pending' });
    expect(errorOf(await person.get('/api/sessions/'))).toEqual(sessionEnded);
    const scripted = await service.anonymous.get(`/employee/me/${person.employeeId}/`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(errorOf(scripted)).toEqual({ status: 401, code: 'INVALID_TOKEN' });
    await service.drain();
    expect(service.mailbox.to(email).map(({ template }) => template)).toEqual(['invitation']);
  });

  test('leaves the account its password and other companies, and no way back in', async () => {
    const shared = await service.addEmployee(admin);
    const before = await accountOf(shared.email);
    const elsewhere = await service.addEmployee(foreigner, { email: shared.email });
    await admin.patch(path(shared.employeeId), { email: newAddress() });
    expect(await accountOf(shared.email)).toMatchObject({ account_id: before!.account_id });
    expect((await service.signIn(shared.email)).companyId).toBe(foreigner.companyId);
    expect(await isIn(elsewhere)).toBe(true);
    const back = await service.anonymous.post('/login/', {
      email: shared.email,
      password,
      company_id: admin.companyId,
    });
    expect(errorOf(back)).toMatchObject({ status: 400, issues: ['company_id'] });
  });

  test('does not touch the account that has the new address, until its owner accepts', async () => {
    const person = await service.addEmployee(admin);
    const found = await service.registerCompany();
    await admin.patch(path(person.employeeId), { email: found.email });
    expect(await isIn(found)).toBe(true);
    expect((await service.signIn(found.email)).companyId).toBe(found.companyId);
  });

  test('refuses the address of another employee, a deleted one too, and ends no session', async () => {
    const [person, gone] = [await service.addEmployee(admin), await service.addEmployee(admin)];
    await admin.delete(path(gone.employeeId));
    for (const email of [member.email, gone.email]) {
      const answer = await admin.patch(path(person.employeeId), { email });
      expect(errorOf(answer)).toEqual({ status: 409, code: 'EMPLOYEE_EXISTS' });
    }
    expect(await isIn(person)).toBe(true);
    expect((await read(admin, person.employeeId)).email).toBe(person.email);
  });

  test('to the same address in other letters changes nothing', async () => {
    const person = await service.addEmployee(admin);
    await admin.patch(path(person.employeeId), { email: person.email.toUpperCase() });
    expect(await isIn(person)).toBe(true);
  });

  test('gives a free address to one of many who want it at once', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => service.addEmployee(admin)));
    const email = newAddress();
    const answers = await Promise.all([
      ...people.map((person) => admin.patch(path(person.employeeId), { email })),
      admin.post('/employee/add/', { first_name: 'A', last_name: 'B', email, companyId: admin.companyId }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
    const addresses = await Promise.all(people.map(async (person) => (await read(admin, person.employeeId)).email));
    expect(new Set([...addresses, email]).size).toBe(addresses.includes(email) ? 5 : 6);
  });

  test('leaves the old address to an employee who is added under it at the same moment', async () => {
    for (let round = 0; round < 8; round += 1) {
      const person = await service.addEmployee(admin);
      const [moved, added] = await Promise.all([
        admin.patch(path(person.employeeId), { email: newAddress() }),
        foreigner.post('/employee/add/', {
          first_name: 'A',
          last_name: 'B',
          email: person.email,
          companyId: foreigner.companyId,
        }),
      ]);
      expect([moved.status, added.status]).toEqual([200, 200]);
      expect(added.body).toMatchObject({ email: person.email, invitationStatus: 'pending' });
    }
  });
});
