import { describe, expect, test } from 'vitest';
import { got, headersOf, said } from '../caller.ts';
import { password, type Person } from '../people.ts';
import { apple, google, service } from '../running.ts';
import { addTask, hourAt } from '../work.ts';

/*
 * Contract 2.1: accounts, employees and invitations.
 *
 * Not to be seen from outside: that an account whose address was never proved accepts nothing, and what a proof drops of it;
 * nobody can make such an account any more (test/features/company/invitations.test.ts, test/features/accounts/identity-login.test.ts).
 */

const { anonymous, mails } = service;
const admin = await service.register({ company_name: 'Inviting' });

type Opened = ReturnType<typeof service.as> & { answer: Record<string, { _id: number; company_id: number } | null> };
async function signInByCode(email: string, extra: object = {}): Promise<Opened> {
  const answer = got(await service.codeLogin(email, extra as Record<string, unknown>));
  return { ...service.as(answer), answer };
}
const recordOf = async (id: number) => got(await admin.get(`/employee/me/${id}/`));
const openOf = async (caller: { get: Person['get'] }) => got(await caller.get('/api/invitations/')).invitations;

/** Somebody with a company of their own, invited to another one; with what the mail brought. */
async function invitedElsewhere() {
  const person = await service.register({ company_name: 'Their own' });
  let employee: { _id: number } = { _id: 0 };
  const invite = async () => void (employee = await service.invite(admin, { email: person.email }));
  const { text } = await mails.causedBy(invite, person.email, 'invitation');
  const [, id, token] = /invitations\/(\d+)\?token=([\w-]+)/.exec(text)!;
  return { person, employee, id: Number(id), token: token! };
}

describe('contract 2.1, an invited employee', async () => {
  const invited = await service.invite(admin);

  test('is pending, and active at once', () => {
    expect(invited).toMatchObject({ invitationStatus: 'pending', isActive: true, is_active: true, isDeleted: false });
  });

  test('can be assigned work', async () => {
    const task = await addTask(admin, { owner_id: invited._id, collaboratorIds: [invited._id] });
    expect(task.owner_id).toBe(invited._id);
  });

  test('can be logged for by leaders', async () => {
    const task = await addTask(admin);
    const leader = await service.join(admin);
    got(await admin.patch(`/api/employees/${leader._id}/`, { isTeamLeader: true }));
    const log = { task_id: task._id, employee_id: invited._id, ...hourAt(8) };
    expect(said(await leader.post('/tasklog/create/', log))).toBe('200');
  });

  test('is counted', async () => {
    const before = got(await admin.get(`/task-statistics/${admin.companyId}/`)).employees.active;
    await service.invite(admin);
    expect(got(await admin.get(`/task-statistics/${admin.companyId}/`)).employees.active).toBe(before + 1);
  });

  test('is accepted once an account has joined', async () => {
    const joined = await service.join(admin);
    expect((await recordOf(joined._id)).invitationStatus).toBe('accepted');
    expect((await recordOf(admin._id)).invitationStatus).toBe('accepted');
  });
});

describe('contract 2.1, accepting by a sign-in', () => {
  test.each([
    ['google', google],
    ['apple', apple],
  ] as const)('%s with the verified address accepts the only invitation by itself', async (name, issuer) => {
    const invited = await service.invite(admin);
    const token = await issuer.sign({ email: invited.email, subject: `accepts by ${name}` });
    const body = got(await anonymous.post(`/api/${name}-login/`, { token }));
    expect([body.employee._id, body.employee.invitationStatus]).toEqual([invited._id, 'accepted']);
  });

  test('a one-time code accepts the only invitation by itself', async () => {
    const invited = await service.invite(admin);
    const { answer } = await signInByCode(invited.email);
    expect(answer['employee']).toMatchObject({ _id: invited._id, invitationStatus: 'accepted' });
  });

  test('neither accepts one of two invitations: they are for choosing', async () => {
    const email = service.newEmail();
    const other = await service.register({ company_name: 'Inviting too' });
    await service.invite(admin, { email });
    await service.invite(other, { email });
    const session = await signInByCode(email);
    expect(session.answer).toMatchObject({ employee: null, company: null });
    expect(await openOf(session)).toHaveLength(2);
    const chosen = await signInByCode(email, { company_id: other.companyId });
    expect(chosen.answer['company']!.company_id).toBe(other.companyId);
  });

  test('an account of another company is signed in there, and accepts by naming company_id', async () => {
    const { person, employee } = await invitedElsewhere();
    expect((await signInByCode(person.email)).answer['company']!.company_id).toBe(person.companyId);
    expect((await recordOf(employee._id)).invitationStatus).toBe('pending');
    const { answer } = await signInByCode(person.email, { company_id: admin.companyId });
    expect(answer['employee']).toMatchObject({ _id: employee._id, invitationStatus: 'accepted' });
  });

  test('a password never accepts, with company_id or without', async () => {
    const { person, employee, id } = await invitedElsewhere();
    await service.setPassword(person.email);
    const { email } = person;
    expect(said(await anonymous.post('/login/', { email, password, company_id: admin.companyId }))).toBe(
      '400 VALIDATION_FAILED company_id:not_found',
    );
    const session = service.as(got(await anonymous.post('/login/', { email, password })));
    expect(said(await session.post(`/api/invitations/${id}/accept/`))).toBe('403 ADDRESS_PROOF_REQUIRED');
    expect((await recordOf(employee._id)).invitationStatus).toBe('pending');
  });

  test('a company changes nothing of what /login/ answers by inviting', async () => {
    const { person } = await invitedElsewhere();
    await service.setPassword(person.email);
    const body = got(await anonymous.post('/login/', { email: person.email, password }));
    expect(body.company).toEqual({ company_id: person.companyId, company_name: 'Their own' });
  });
});

describe('contract 2.1 and 5, invitations', () => {
  test('are listed for the owner of the address, and nobody else', async () => {
    const { person, id } = await invitedElsewhere();
    const [invitation, ...rest] = await openOf(person);
    expect(rest).toEqual([]);
    expect(Object.keys(invitation).toSorted()).toEqual(['_id', 'company_id', 'company_name', 'createdAt', 'invitedBy']);
    expect(invitation).toMatchObject({
      _id: id,
      company_id: admin.companyId,
      company_name: 'Inviting',
      invitedBy: 'Ada Lovelace',
    });
    expect((await openOf(admin)).map((one: { _id: number }) => one._id)).not.toContain(id);
    expect(said(await admin.post(`/api/invitations/${id}/accept/`))).toBe('404 NOT_FOUND');
    expect(said(await admin.post(`/api/invitations/${id}/decline/`))).toBe('404 NOT_FOUND');
  });

  test('are not accepted by a proof of before, and are by the link of their mail', async () => {
    const { person, employee, id, token } = await invitedElsewhere();
    expect(said(await person.post(`/api/invitations/${id}/accept/`))).toBe('403 ADDRESS_PROOF_REQUIRED');
    expect(said(await person.post(`/api/invitations/${id}/accept/`, { token: 'x'.repeat(43) }))).toBe(
      '403 ADDRESS_PROOF_REQUIRED',
    );
    const body = got(await person.post(`/api/invitations/${id}/accept/`, { token }));
    expect(body).toMatchObject({
      token_type: 'Bearer',
      employee: { _id: employee._id, invitationStatus: 'accepted' },
      company: { company_id: admin.companyId, company_name: 'Inviting' },
    });
    expect(said(await service.as(body).get(`/employee/list/${admin.companyId}/`))).toBe('200');
    expect(said(await person.get('/api/invitations/'))).toBe('401 SESSION_ENDED');
  });

  test('are accepted by a session that began with a code after them', async () => {
    const { person, id } = await invitedElsewhere();
    const session = await signInByCode(person.email);
    expect(got(await session.post(`/api/invitations/${id}/accept/`)).company.company_id).toBe(admin.companyId);
  });

  test('are declined, and then gone', async () => {
    const { person, employee, id, token } = await invitedElsewhere();
    expect(got(await person.post(`/api/invitations/${id}/decline/`))).toEqual({ success: true });
    expect(await openOf(person)).toEqual([]);
    expect(said(await person.post(`/api/invitations/${id}/accept/`, { token }))).toBe('404 NOT_FOUND');
    expect((await recordOf(employee._id)).invitationStatus).toBe('pending');
  });

  test('end with the place: a removed employee cannot accept', async () => {
    const { person, employee, id, token } = await invitedElsewhere();
    got(await admin.delete(`/api/employees/${employee._id}/`));
    expect(said(await person.post(`/api/invitations/${id}/accept/`, { token }))).toBe('404 NOT_FOUND');
  });
});

describe('contract 2.1, a change of address', async () => {
  const email = service.newEmail();
  const own = await service.register({ email, company_name: 'Own' });
  const employee = await service.invite(admin, { email });
  const joined = got(await service.codeLogin(email, { company_id: admin.companyId }));
  const session = service.as(joined);
  await service.setPassword(email);
  const again = service.as(got(await anonymous.post('/login/', { email, password, company_id: admin.companyId })));
  const newEmail = service.newEmail();
  const change = () => admin.patch(`/api/employees/${employee._id}/`, { email: newEmail });
  const key = await service.makeKey(again, ['read']);
  let told = '';

  test('is made by an admin, and invites the new address', async () => {
    const mail = await mails.causedBy(
      async () => {
        expect(got(await change())).toMatchObject({ email: newEmail, invitationStatus: 'pending' });
      },
      newEmail,
      'invitation',
    );
    expect(mail.text).toContain('Inviting');
    told = mail.at;
  });

  test('ends the sessions and keys of the employee', async () => {
    expect(told).not.toBe('');
    expect(said(await again.get(`/employee/list/${admin.companyId}/`))).toBe('401 SESSION_ENDED');
    expect(said(await session.get(`/employee/list/${admin.companyId}/`))).toBe('401 SESSION_ENDED');
    expect(said(await key.get(`/employee/list/${admin.companyId}/`))).toMatch(/^401/);
  });

  test('leaves the old account its password and other companies, and no way back in', async () => {
    const body = got(await anonymous.post('/login/', { email, password }));
    expect(body.company.company_id).toBe(own.companyId);
    expect(said(await anonymous.post('/login/', { email, password, company_id: admin.companyId }))).toBe(
      '400 VALIDATION_FAILED company_id:not_found',
    );
    expect(said(await service.codeLogin(email, { company_id: admin.companyId }))).toBe(
      '400 VALIDATION_FAILED company_id:not_found',
    );
    expect(said(await anonymous.post('/token-login/', { email, company_id: admin.companyId }, headersOf(body)))).toBe(
      '400 VALIDATION_FAILED company_id:not_found',
    );
  });

  test('tells the old account by mail', () => {
    expect(
      mails
        .all()
        .some(({ to, subject }) => to === email && subject === 'Your place in Inviting has another address now'),
    ).toBe(true);
  });

  test('lets the owner of the new address in', async () => {
    const { answer } = await signInByCode(newEmail);
    expect(answer['employee']!._id).toBe(employee._id);
  });
});

describe('contract 2.1, what a company cannot do', () => {
  test('an admin who invites a stranger and makes a login key reaches nothing of their account', async () => {
    const victim = await service.register({ company_name: 'Victims' });
    const attacker = await service.register({ company_name: 'Attackers' });
    const puppet = await service.invite(attacker, { email: victim.email });
    const key = await service.makeKey(attacker, ['login']);
    const body = got(await key.post('/token-login/', { email: victim.email, company_id: attacker.companyId }));
    expect(body.employee._id).toBe(puppet._id);
    const bound = service.as(body);
    expect(said(await bound.get(`/employee/list/${victim.companyId}/`))).toBe('404 NOT_FOUND');
    const change = { email: victim.email, company_id: victim.companyId };
    expect(said(await anonymous.post('/token-login/', change, headersOf(body)))).toBe('403 SESSION_BOUND');
    expect(said(await victim.get(`/employee/list/${victim.companyId}/`))).toBe('200');
  });

  test('removing an employee leaves the account its other companies', async () => {
    const { person, employee, token, id } = await invitedElsewhere();
    got(await person.post(`/api/invitations/${id}/accept/`, { token }));
    got(await admin.delete(`/api/employees/${employee._id}/`));
    expect(got(await service.codeLogin(person.email)).company.company_id).toBe(person.companyId);
  });
});
