import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { got, said } from '../caller.ts';
import { service } from '../running.ts';
import { addComment, addLog, addTask, fields, fieldsOf } from '../work.ts';

/* Contract 4: employees, performance and search. */

const { anonymous, mails, url } = service;
const admin = await service.register();
const { companyId } = admin;
const all = fields(
  '_id, invitationStatus, first_name, last_name, name, email, phone, designation, companyId, salary, isAdmin, isTeamLeader, is_active, isActive, isDeleted, date_of_birth, date_of_joining, gender, country_code, profilePicture, createdAt, updatedAt',
);
type Listed = { _id: number; name: string; email: string };
const add = (names: object = {}) => service.invite(admin, names as Record<string, unknown>);
const namesOf = (employees: Listed[]): string[] => employees.map(({ name }) => name);
const idsOf = (employees: Listed[]): number[] => employees.map(({ _id }) => _id);
const list = async (which = '') => got(await admin.get(`/employee/list/${which}${companyId}/`));

const deleted = await add({ first_name: 'Dora', last_name: 'Deleted' });
got(await admin.delete(`/api/employees/${deleted._id}/`));
const inactive = await add({ first_name: 'Ida', last_name: 'Inactive' });
got(await admin.patch(`/api/employees/${inactive._id}/`, { is_active: false }));

describe('contract 4, an employee', () => {
  test('has exactly these fields', async () => {
    expect(fieldsOf(await add())).toEqual(all);
    for (const one of (await list()).employees) expect(fieldsOf(one)).toEqual(all);
  });

  test('has is_active equal to isActive', async () => {
    for (const one of (await list()).employees) expect(one.is_active).toBe(one.isActive);
  });

  test('is called "first last", unless a name is set by itself', async () => {
    const { _id, name } = await add({ first_name: 'Grace', last_name: 'Hopper' });
    expect(name).toBe('Grace Hopper');
    const path = `/api/employees/${_id}/`;
    expect(got(await admin.patch(path, { last_name: 'Murray' })).name).toBe('Grace Murray');
    expect(got(await admin.patch(path, { name: 'Amazing Grace' })).name).toBe('Amazing Grace');
    expect(got(await admin.patch(path, { last_name: 'Hopper' })).name).toBe('Amazing Grace');
    expect(got(await admin.patch(path, { name: null })).name).toBe('Grace Hopper');
  });
});

describe('contract 4, POST /employee/add/', () => {
  test('answers the employee with all that was sent', async () => {
    const email = service.newEmail();
    const sent = {
      first_name: 'Joan',
      last_name: 'Clarke',
      email,
      phone: '+44 1',
      designation: 'Lead',
      companyId,
      salary: 12.345,
    };
    expect(got(await admin.post('/employee/add/', sent))).toMatchObject({ ...sent, salary: 12.35, isAdmin: false });
  });

  test('is for the caller’s own company', async () => {
    const person = { first_name: 'A', last_name: 'B', email: service.newEmail(), companyId: 987_654_321 };
    expect(said(await admin.post('/employee/add/', person))).toBe('400 VALIDATION_FAILED companyId:not_found');
  });

  test('refuses an address that is an employee there, in any letter case, deleted or not', async () => {
    for (const { email } of [admin, inactive, deleted]) {
      const person = { first_name: 'A', last_name: 'B', email: email.toUpperCase(), companyId };
      expect(said(await admin.post('/employee/add/', person))).toBe('409 EMPLOYEE_EXISTS');
    }
  });

  test('sends an invitation by mail, from the inviter', async () => {
    const email = service.newEmail();
    const mail = await mails.causedBy(() => add({ email }), email, 'invitation');
    expect(mail.subject).toBe('Ada Lovelace invited you to Analytical Engines');
    expect(mail.text).toMatch(/https:\/\/app\.example\.test\/invitations\/\d+\?token=[\w-]{43}/);
  });

  test('mails one address at most 3 times a day, and makes the invitation all the same', async () => {
    const email = service.newEmail();
    const { _id } = await mails
      .causedBy(() => add({ email }), email, 'invitation')
      .then(async () => {
        const { employees } = await list();
        return employees.find((one: Listed) => one.email === email);
      });
    const again = () => admin.patch(`/api/employees/${_id}/`, { email });
    for (let nth = 0; nth < 2; nth += 1) await mails.causedBy(again, email, 'invitation');
    expect(got(await again()).invitationStatus).toBe('pending');
    // What is sent after it has come.
    const next = service.newEmail();
    await mails.causedBy(() => add({ email: next }), next, 'invitation');
    expect(mails.all().filter(({ to }) => to === email)).toHaveLength(3);
  });

  test('stops at the plan’s maxEmployees', async () => {
    const small = await service.register();
    const { plans } = got(await small.get(`/company/${small.companyId}/details/`));
    const { maxEmployees } = plans.find((plan: { change: string }) => plan.change === 'current');
    const people = Array.from({ length: maxEmployees - 1 }, () => service.invite(small));
    await Promise.all(people);
    const person = { first_name: 'One', last_name: 'Toomany', email: service.newEmail(), companyId: small.companyId };
    expect(said(await small.post('/employee/add/', person))).toBe('409 PLAN_LIMIT_REACHED');
  });
});

describe('contract 4, lists of employees', () => {
  test('of all hold the inactive and the deleted too', async () => {
    const { employees, ...rest } = await list();
    expect(rest).toEqual({});
    expect(idsOf(employees)).toEqual(expect.arrayContaining([admin._id, inactive._id, deleted._id]));
  });

  test('of the active hold those alone, and the deleted apart with _id and name', async () => {
    const { employees, deletedEmployees, ...rest } = await list('activeUsers/');
    expect(rest).toEqual({});
    expect(idsOf(employees)).not.toContain(inactive._id);
    expect(idsOf(employees)).not.toContain(deleted._id);
    for (const one of employees) expect(one).toMatchObject({ isActive: true, isDeleted: false });
    expect(deletedEmployees).toContainEqual({ _id: deleted._id, name: 'Dora Deleted' });
    expect(idsOf(deletedEmployees)).not.toContain(inactive._id);
  });

  test('of the active are alphabetical as people sort: without regard to case and accents', async () => {
    for (const first_name of ['zoe', 'Émile', 'Eva', 'edgar', 'Åse', 'Zara', 'alan'])
      await add({ first_name, last_name: 'Sorted' });
    const { employees } = await list('activeUsers/');
    const sorted = namesOf(employees).filter((name) => name.endsWith('Sorted'));
    expect(sorted.map((name) => name.split(' ')[0])).toEqual(['alan', 'Åse', 'edgar', 'Émile', 'Eva', 'Zara', 'zoe']);
  });

  test('of the inactive hold those with isActive false, whether deleted or not', async () => {
    const { employees, ...rest } = await list('InactiveUsers/');
    expect(rest).toEqual({});
    expect(idsOf(employees)).toEqual(expect.arrayContaining([inactive._id, deleted._id]));
    for (const one of employees) expect(one.isActive).toBe(false);
  });
});

describe('contract 4, PATCH /api/employees/{_id}/', () => {
  test('takes each documented field, by itself', async () => {
    const { _id } = await add();
    const path = `/api/employees/${_id}/`;
    const changes = {
      first_name: 'A',
      last_name: 'B',
      name: 'C',
      email: service.newEmail(),
      phone: '1',
      designation: 'D',
      salary: 7,
      isAdmin: true,
      isTeamLeader: true,
      is_active: false,
      date_of_birth: '1990-01-01',
      date_of_joining: '2020-02-29',
      gender: 'x',
      country_code: 'DE',
    };
    for (const [field, value] of Object.entries(changes))
      expect(got(await admin.patch(path, { [field]: value }))).toMatchObject({ [field]: value });
    expect(got(await admin.get(`/employee/me/${_id}/`))).toMatchObject(changes);
  });

  test('leaves what is not sent, and null clears', async () => {
    const { _id } = await add({ phone: '1', designation: 'D' });
    expect(got(await admin.patch(`/api/employees/${_id}/`, { phone: null }))).toMatchObject({
      phone: null,
      designation: 'D',
    });
  });

  test('refuses an address that is another employee’s', async () => {
    const { _id } = await add();
    expect(said(await admin.patch(`/api/employees/${_id}/`, { email: admin.email }))).toBe('409 EMPLOYEE_EXISTS');
  });

  test('changes nothing where one field is wrong', async () => {
    const { _id, phone } = await add();
    expect(said(await admin.patch(`/api/employees/${_id}/`, { phone: '9', salary: 'x' }))).toMatch(/^400 /);
    expect(got(await admin.get(`/employee/me/${_id}/`)).phone).toBe(phone);
  });
});

describe('contract 4, PATCH /employee/update-picture/{_id}/', () => {
  const image = sharp({ create: { width: 900, height: 600, channels: 3, background: '#369' } });
  const path = `/employee/update-picture/${admin._id}/`;
  const set = (profilePicture: string | null) => admin.patch(path, { profilePicture });

  test.each(['png', 'jpeg', 'webp', 'gif'] as const)(
    'takes a %s, checked by content, and serves it from a URL',
    async (format) => {
      const bytes = await image.clone().toFormat(format).toBuffer();
      const { profilePicture } = got(await set(bytes.toString('base64')));
      expect(profilePicture).toMatch(/^https?:\/\//);
      const served = await fetch(`${url}${new URL(profilePicture).pathname}`);
      expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/webp']);
      const { width, height } = await sharp(Buffer.from(await served.arrayBuffer())).metadata();
      expect(Math.max(width, height)).toBeLessThanOrEqual(512);
    },
  );

  test('takes a data: prefix, whatever type that says', async () => {
    const bytes = await image.clone().png().toBuffer();
    for (const type of ['image/png', 'image/jpeg'])
      expect(said(await set(`data:${type};base64,${bytes.toString('base64')}`))).toBe('200');
  });

  test('never takes an SVG, nor what is no picture, nor broken base64', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
    const before = got(await admin.get(`/employee/me/${admin._id}/`)).profilePicture;
    for (const text of [
      Buffer.from(svg).toString('base64'),
      `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`,
      Buffer.from('plain').toString('base64'),
      '%%%',
      '',
    ])
      expect(said(await set(text))).toMatch(/^400 VALIDATION_FAILED profilePicture:/);
    expect(got(await admin.get(`/employee/me/${admin._id}/`)).profilePicture).toBe(before);
  });

  test('counts pixels before it decodes', async () => {
    // The head of a PNG that says 60,000 by 60,000, and nothing of its data.
    const bytes = await image.clone().png().toBuffer();
    bytes.writeUInt32BE(60_000, 16);
    bytes.writeUInt32BE(60_000, 20);
    expect(said(await set(bytes.toString('base64')))).toMatch(/^400 VALIDATION_FAILED profilePicture:/);
  });

  test('is null where there is none', async () => {
    expect(got(await set(null)).profilePicture).toBeNull();
  });
});

describe('contract 4, GET /api/performance/{company_id}/', () => {
  test('counts hours, tasks and comments of each', async () => {
    const boss = await service.register();
    const worker = await service.join(boss);
    const task = await addTask(worker, { dueDate: '2020-01-01' });
    const done = await addTask(worker, { projectId: task.projectId, dueDate: '2999-01-01' });
    got(await worker.patch(`/api/tasks/${done._id}/`, { status: 'done' }));
    await addLog(worker, task._id, 8);
    await addComment(worker, task._id);
    const { employees, ...rest } = got(await boss.get(`/api/performance/${boss.companyId}/`));
    expect(rest).toEqual({});
    const row = employees.find((one: { employee_id: number }) => one.employee_id === worker._id);
    expect(row).toEqual({
      employee_id: worker._id,
      name: worker.name,
      loggedHours: 1,
      tasksAssigned: 2,
      tasksCompleted: 1,
      tasksOverdue: 1,
      onTimeRate: expect.any(Number),
      commentsPosted: 1,
      lastActivityAt: expect.stringMatching(/Z$/),
    });
    const idle = employees.find((one: { employee_id: number }) => one.employee_id === boss._id);
    expect(idle).toMatchObject({ loggedHours: 0, tasksAssigned: 0, onTimeRate: null });
  });
});

describe('contract 4, GET /employees/search/{company_id}/', async () => {
  const boss = await service.register({ first_name: 'Boss', last_name: 'Person' });
  const search = async (q: string) =>
    got(await boss.get(`/employees/search/${boss.companyId}/?q=${encodeURIComponent(q)}`));
  const found = await service.invite(boss, {
    first_name: 'Katherine',
    last_name: 'Johnson',
    designation: 'Mathematician',
  });
  const off = await service.invite(boss, { first_name: 'Kathrine', last_name: 'Off' });
  got(await boss.patch(`/api/employees/${off._id}/`, { is_active: false }));
  const gone = await service.invite(boss, { first_name: 'Kathy', last_name: 'Gone' });
  got(await boss.delete(`/api/employees/${gone._id}/`));

  test('matches by name, email and designation', async () => {
    for (const q of ['Katherine', 'johnson', 'KATHERINE JOHNSON', found.email, 'mathem']) {
      const { employees, ...rest } = await search(q);
      expect(rest).toEqual({});
      expect([q, idsOf(employees)[0]]).toEqual([q, found._id]);
    }
  });

  test('finds the active and the inactive, and no deleted one', async () => {
    const ids = idsOf((await search('Kath')).employees);
    expect(ids).toEqual(expect.arrayContaining([found._id, off._id]));
    expect(ids).not.toContain(gone._id);
  });

  test('answers employees, at most 50', async () => {
    await Promise.all(
      Array.from({ length: 60 }, (_, nth) => nth)
        .slice(0, 20)
        .map(() => service.invite(boss, { first_name: 'Many', last_name: 'Alike' })),
    );
    const { employees } = await search('Many');
    expect(employees.length).toBeGreaterThan(10);
    expect(employees.length).toBeLessThanOrEqual(50);
    for (const one of employees) expect(fieldsOf(one)).toEqual(all);
  });

  test('takes what has a meaning in patterns for text', async () => {
    for (const q of ['%', '_', '\\', "'", '(', '*'])
      expect(idsOf((await search(q)).employees)).not.toContain(found._id);
  });

  test('asks for q', async () => {
    expect(said(await boss.get(`/employees/search/${boss.companyId}/`))).toBe('400 VALIDATION_FAILED q:required');
    expect(said(await anonymous.get(`/employees/search/${boss.companyId}/?q=a`))).toBe('401 UNAUTHENTICATED');
  });
});
