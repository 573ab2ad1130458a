import { describe, expect, onTestFinished, test } from 'vitest';
import { endOpenInvitation } from '../../../server/features/memberships/membership.ts';
import { errorOf, type Actor, type Answer } from '../../support/actor.ts';
import { waitForLockWaits } from '../../support/lock-waits.ts';
import { password, squat, startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

const service = await startService();
const { anonymous, mailbox, clock } = service;

let addresses = 0;
const newAddress = () => `invitee${(addresses += 1)}@example.com`;

async function invite(admin: Actor, email: string): Promise<{ employeeId: number }> {
  const names = { first_name: 'Grace', last_name: 'Hopper' };
  const { status, body } = await admin.post('/employee/add/', { ...names, email, companyId: admin.companyId });
  expect(status).toBe(200);
  return { employeeId: body._id };
}

async function loginByCode(email: string, companyId?: number): Promise<Answer> {
  await anonymous.post('/verify-email/', { email });
  await service.drain();
  const otp = mailbox.lastCode(email);
  return anonymous.post('/otp-login/', { email, otp, ...(companyId === undefined ? {} : { company_id: companyId }) });
}

const loginByPassword = (email: string, more: object = {}) => anonymous.post('/login/', { email, password, ...more });
const statusOf = async (admin: Actor, employeeId: number) =>
  (await admin.get(`/employee/me/${employeeId}/`)).body.invitationStatus;
const openTo = async (answer: Answer) => (await service.as(answer.body).get('/api/invitations/')).body.invitations;
const accept = (answer: Answer, id: number, body?: object) =>
  service.as(answer.body).post(`/api/invitations/${id}/accept/`, body);

/** The token in the link of the last invitation mail to an address. */
async function linkToken(email: string): Promise<string> {
  await service.drain();
  const mail = mailbox.to(email).findLast(({ template }) => template === 'invitation');
  return /token=([\w-]{43})/.exec(mail!.text)![1]!;
}

describe('an invited employee', () => {
  test('is active at once and has no account', async () => {
    const admin = await service.registerCompany();
    const { employeeId } = await invite(admin, newAddress());
    expect((await admin.get(`/employee/me/${employeeId}/`)).body).toMatchObject({
      invitationStatus: 'pending',
      isActive: true,
    });
    const { body: project } = await admin.post('/api/projects/', { name: 'Fair' });
    const task = await admin.post('/api/tasks/', { projectId: project._id, title: 'Lights', owner_id: employeeId });
    expect(task.body.owner_id).toBe(employeeId);
    const times = { start_time: '2026-03-02T08:00:00Z', end_time: '2026-03-02T08:30:00Z' };
    const log = await admin.post('/tasklog/create/', { task_id: task.body._id, employee_id: employeeId, ...times });
    expect(log.status).toBe(200);
  });

  test('who is new accepts by signing in with a code', async () => {
    const admin = await service.registerCompany();
    const email = newAddress();
    const { employeeId } = await invite(admin, email);
    const { status, body } = await loginByCode(email);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      employee: { _id: employeeId, invitationStatus: 'accepted' },
      company: { company_id: admin.companyId },
    });
    expect(await statusOf(admin, employeeId)).toBe('accepted');
    expect(await openTo(await loginByCode(email))).toEqual([]);
  });

  test('of two companies joins neither by signing in, and the one that the sign-in names', async () => {
    const [first, second] = [await service.registerCompany(), await service.registerCompany()];
    const email = newAddress();
    await invite(first, email);
    const { employeeId } = await invite(second, email);
    expect((await loginByCode(email)).body).toMatchObject({ employee: null, company: null });
    expect((await loginByCode(email, second.companyId)).body.employee._id).toBe(employeeId);
    expect((await loginByCode(email)).body.company.company_id).toBe(second.companyId);
  });

  test('who works elsewhere is signed in there, and hears of the invitation by asking', async () => {
    const [here, there] = [await service.registerCompany({ name: 'Here' }), await service.registerCompany()];
    const { employeeId } = await invite(here, there.email);
    const login = await loginByCode(there.email);
    expect(login.body.company.company_id).toBe(there.companyId);
    const [invitation] = await openTo(login);
    expect(invitation).toEqual({
      _id: expect.any(Number),
      company_id: here.companyId,
      company_name: 'Here',
      invitedBy: here.name,
      createdAt: expect.stringMatching(/Z$/),
    });
    const accepted = await accept(login, invitation._id);
    expect(accepted.body.employee).toMatchObject({ _id: employeeId, invitationStatus: 'accepted' });
    // The session goes on in the company that was joined.
    expect(errorOf(await service.as(login.body).get('/api/sessions/'))).toMatchObject({ code: 'SESSION_ENDED' });
    expect((await service.as(accepted.body).get(`/employee/me/${employeeId}/`)).status).toBe(200);
  });

  test('does not accept with a refresh token that was used before: that ends the session', async () => {
    const [here, there] = [await service.registerCompany(), await service.registerCompany()];
    const { employeeId } = await invite(here, there.email);
    clock.advance({ seconds: 1 });
    const stolen = await loginByCode(there.email);
    const refresh = (answer: Answer) => anonymous.post('/api/token/refresh/', answer.body);
    const [invitation] = await openTo(stolen);
    expect((await refresh(await refresh(stolen))).status).toBe(200);
    expect(errorOf(await accept(stolen, invitation._id))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect(await statusOf(here, employeeId)).toBe('pending');
  });

  test('does not accept with a password alone, nor with a proof that is older than the invitation', async () => {
    const [here, there] = [await service.registerCompany(), await service.registerCompany()];
    await service.signIn(there.email);
    const old = await loginByCode(there.email);
    clock.advance({ seconds: 1 });
    const { employeeId } = await invite(here, there.email);
    const byPassword = await loginByPassword(there.email);
    expect(byPassword.body.company.company_id).toBe(there.companyId);
    const named = await loginByPassword(there.email, { company_id: here.companyId });
    expect(errorOf(named)).toMatchObject({ status: 400, issues: ['company_id'] });
    const [invitation] = await openTo(byPassword);
    for (const login of [old, byPassword])
      expect(errorOf(await accept(login, invitation._id))).toEqual({ status: 403, code: 'ADDRESS_PROOF_REQUIRED' });
    expect(await statusOf(here, employeeId)).toBe('pending');
  });

  test('accepts with the link of the mail, and not with another one', async () => {
    const [here, there, other] = [
      await service.registerCompany(),
      await service.registerCompany(),
      await service.registerCompany(),
    ];
    await service.signIn(there.email);
    const { employeeId } = await invite(here, there.email);
    const token = await linkToken(there.email);
    await invite(other, there.email);
    const foreign = await linkToken(there.email);
    const login = await loginByPassword(there.email);
    const [invitation] = await openTo(login);
    for (const wrong of ['x', foreign])
      expect(errorOf(await accept(login, invitation._id, { token: wrong }))).toMatchObject({ status: 403 });
    expect((await accept(login, invitation._id, { token })).body.employee._id).toBe(employeeId);
    expect(service.log()).not.toContain(token);
  });

  test('declines, and can be invited again', async () => {
    const [here, there] = [await service.registerCompany(), await service.registerCompany()];
    const { employeeId } = await invite(here, there.email);
    const login = await loginByCode(there.email);
    const [{ _id: declined }] = await openTo(login);
    const decline = (id: number) => service.as(login.body).post(`/api/invitations/${id}/decline/`);
    expect((await decline(declined)).body).toEqual({ success: true });
    expect(errorOf(await decline(declined))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await accept(login, declined))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(await statusOf(here, employeeId)).toBe('pending');
    await here.patch(`/api/employees/${employeeId}/`, { email: there.email });
    const [{ _id: again }] = await openTo(login);
    expect(again).toBeGreaterThan(declined);
  });

  test('who was deactivated, deleted or given another address cannot accept', async () => {
    const there = await service.registerCompany();
    const ends: ((admin: Actor, id: number) => Promise<Answer>)[] = [
      (admin, id) => admin.patch(`/api/employees/${id}/`, { is_active: false }),
      (admin, id) => admin.delete(`/api/employees/${id}/`),
      (admin, id) => admin.patch(`/api/employees/${id}/`, { email: newAddress() }),
    ];
    for (const end of ends) {
      const here = await service.registerCompany();
      const { employeeId } = await invite(here, there.email);
      const login = await loginByCode(there.email);
      const [{ _id: id }] = await openTo(login);
      expect((await end(here, employeeId)).status).toBe(200);
      expect(await openTo(login)).toEqual([]);
      expect(errorOf(await accept(login, id))).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
  });

  test('is joined once by many who accept at once', async () => {
    const [here, there] = [await service.registerCompany(), await service.registerCompany()];
    await invite(here, there.email);
    const login = await loginByCode(there.email);
    const [{ _id: id }] = await openTo(login);
    const answers = await Promise.all(Array.from({ length: 16 }, () => accept(login, id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  });
});

describe('an invitation', () => {
  test("is nobody else's to read, accept or decline", async () => {
    const [here, there, thief] = [
      await service.registerCompany(),
      await service.registerCompany(),
      await service.registerCompany(),
    ];
    await invite(here, there.email);
    const [{ _id: id }] = await openTo(await loginByCode(there.email));
    for (const outsider of [thief, here]) {
      expect((await outsider.get('/api/invitations/')).body.invitations).toEqual([]);
      for (const verb of ['accept', 'decline'])
        expect(errorOf(await outsider.post(`/api/invitations/${id}/${verb}/`))).toEqual({
          status: 404,
          code: 'NOT_FOUND',
        });
    }
  });

  test('is not shown to an account whose address was never proved', async () => {
    const admin = await service.registerCompany();
    const email = newAddress();
    const squatter = await squat(service, email);
    await invite(admin, email);
    expect((await squatter.get('/api/invitations/')).body.invitations).toEqual([]);
    expect((await loginByPassword(email)).body).toMatchObject({ employee: null });
  });

  test('is mailed three times a day to one address by one company, however often it is made', async () => {
    const [admin, other] = [await service.registerCompany(), await service.registerCompany()];
    const email = newAddress();
    const { employeeId } = await invite(admin, email);
    await service.drain();
    for (let again = 0; again < 5; again += 1) {
      await admin.patch(`/api/employees/${employeeId}/`, { email: newAddress() });
      expect((await admin.patch(`/api/employees/${employeeId}/`, { email })).status).toBe(200);
      await service.drain();
    }
    expect(mailbox.to(email)).toHaveLength(3);
    await invite(other, email);
    await service.drain();
    expect(mailbox.to(email)).toHaveLength(4);
    clock.advance({ days: 1 });
    await admin.patch(`/api/employees/${employeeId}/`, { email });
    await service.drain();
    expect(mailbox.to(email)).toHaveLength(5);
  });

  test('keeps the link of its last mail when it is made again, and not mailed', async () => {
    const admin = await service.registerCompany();
    const { email } = await service.registerCompany();
    await service.signIn(email);
    const { employeeId } = await invite(admin, email);
    for (let again = 0; again < 4; again += 1) {
      await admin.patch(`/api/employees/${employeeId}/`, { email });
      await service.drain();
    }
    const token = await linkToken(email);
    const login = await loginByPassword(email);
    const [invitation] = await openTo(login);
    expect((await accept(login, invitation._id, { token })).body.employee._id).toBe(employeeId);
  });

  describe('of somebody who is inactive or deleted', () => {
    type Act = (admin: Actor, path: string) => Promise<Answer>;
    const ways: [string, { leave: Act; comeBack: Act }][] = [
      [
        'inactive',
        {
          leave: (admin, path) => admin.patch(path, { is_active: false }),
          comeBack: (admin, path) => admin.patch(path, { is_active: true }),
        },
      ],
      [
        'deleted',
        { leave: (admin, path) => admin.delete(path), comeBack: (admin, path) => admin.post(`${path}restore/`) },
      ],
    ];
    const mailsTo = async (email: string) => {
      await service.drain();
      return mailbox.to(email).length;
    };

    test.each(ways)('is mailed once when they are active again: %s', async (_name, { leave, comeBack }) => {
      const admin = await service.registerCompany();
      const { employeeId } = await invite(admin, newAddress());
      const path = `/api/employees/${employeeId}/`;
      await leave(admin, path);
      const email = newAddress();
      // None of these is mailed, and so none counts against the three a day.
      for (let again = 0; again < 4; again += 1)
        expect((await admin.patch(path, { email })).body).toMatchObject({ invitationStatus: 'pending' });
      expect(await mailsTo(email)).toBe(0);
      expect((await comeBack(admin, path)).body).toMatchObject({ isActive: true, invitationStatus: 'pending' });
      expect(await mailsTo(email)).toBe(1);
      const login = await loginByCode(email);
      expect(login.body.employee._id).toBe(employeeId);
    });

    test.each(ways)(
      'is not mailed again if they have its link, or declined: %s',
      async (_name, { leave, comeBack }) => {
        const admin = await service.registerCompany();
        const there = await service.registerCompany();
        const { employeeId } = await invite(admin, there.email);
        const path = `/api/employees/${employeeId}/`;
        const before = await mailsTo(there.email);
        await leave(admin, path);
        await comeBack(admin, path);
        expect(await mailsTo(there.email)).toBe(before);
        const login = await loginByCode(there.email);
        const [{ _id: id }] = await openTo(login);
        await service.as(login.body).post(`/api/invitations/${id}/decline/`);
        await leave(admin, path);
        await comeBack(admin, path);
        expect(await openTo(login)).toEqual([]);
      },
    );

    test('is made when they are active, if they came with an import and had none', async () => {
      const admin = await service.registerCompany();
      const email = newAddress();
      const { employeeId } = await invite(admin, email);
      const path = `/api/employees/${employeeId}/`;
      await admin.patch(path, { is_active: false });
      await service.database.db.deleteFrom('invitations').where('employee_id', '=', employeeId).execute();
      expect(await mailsTo(email)).toBe(0);
      await admin.patch(path, { is_active: true });
      expect(await mailsTo(email)).toBe(1);
    });

    test('is not mailed with a change that also deactivates, and is with one that also activates', async () => {
      const admin = await service.registerCompany();
      const { employeeId } = await invite(admin, newAddress());
      const path = `/api/employees/${employeeId}/`;
      const [first, second] = [newAddress(), newAddress()];
      await admin.patch(path, { is_active: false, email: first });
      await admin.patch(path, { is_active: true, email: second });
      expect([await mailsTo(first), await mailsTo(second)]).toEqual([0, 1]);
    });
  });

  test('is mailed no more often because the person is erased in between', async () => {
    const admin = await service.registerCompany();
    const email = newAddress();
    for (let again = 0; again < 5; again += 1) {
      const { employeeId } = await invite(admin, email);
      expect((await admin.post(`/api/employees/${employeeId}/erase/`)).status).toBe(200);
    }
    const counted = await service.database.db
      .selectFrom('invitation_mails')
      .where('company_id', '=', admin.companyId)
      .select('address_hash')
      .execute();
    expect(counted).toHaveLength(3);
    expect(JSON.stringify(counted)).not.toContain(email);
  });

  test('that is declined is the end of mails from that company', async () => {
    const admin = await service.registerCompany();
    const there = await service.registerCompany();
    const { taskId } = await startWork(admin);
    await invite(admin, there.email);
    const mention = async () => {
      const message = 'Have a look';
      const comment = { taskId, sender: admin.employeeId, message, mentionedEmails: [there.email] };
      expect((await admin.post('/api/task-chats/', comment)).status).toBe(200);
      await service.drain();
      return mailbox.to(there.email).filter(({ subject }) => subject.includes('mentioned')).length;
    };
    expect(await mention()).toBe(1);
    const login = await loginByCode(there.email);
    const [{ _id: id }] = await openTo(login);
    expect((await service.as(login.body).post(`/api/invitations/${id}/decline/`)).status).toBe(200);
    expect(await mention()).toBe(1);
  });

  test('is mailed to 200 strangers a day at most while the company is on trial', async () => {
    const admin = await service.registerCompany();
    const { employeeId } = await invite(admin, newAddress());
    for (let more = 0; more < 205; more += 1)
      await admin.patch(`/api/employees/${employeeId}/`, { email: `trial${more}@example.com` });
    const mailed = await service.database.db
      .selectFrom('invitations')
      .where('company_id', '=', admin.companyId)
      .where('mailed_at', 'is not', null)
      .select('invitation_id')
      .execute();
    expect(mailed).toHaveLength(200);
    const stranger = 'trial204@example.com';
    const { taskId } = await startWork(admin);
    const comment = { taskId, sender: admin.employeeId, message: 'Hello', mentionedEmails: [stranger] };
    expect((await admin.post('/api/task-chats/', comment)).status).toBe(200);
    const { body: key } = await admin.post('/api/api-keys/', { name: 'SSO', scopes: ['login'] });
    const headers = { authorization: `Bearer ${key.key}` };
    const signIn = { email: stranger, company_id: admin.companyId };
    expect((await anonymous.post('/token-login/', signIn, { headers })).status).toBe(200);
    await service.drain();
    expect(mailbox.to(stranger)).toEqual([]);
  });
});

test.skipIf(service.database.kind === 'embedded')(
  'an invitation that is declined while a sign-in accepts it links no account',
  async () => {
    const admin = await service.registerCompany();
    const email = newAddress();
    const { employeeId } = await invite(admin, email);
    await anonymous.post('/verify-email/', { email });
    await service.drain();
    const decline = service.database.forCompany(admin.companyId).begin();
    onTestFinished(() => decline.rollback());
    const ref = { companyId: admin.companyId, employeeId };
    await endOpenInvitation(decline.db, ref, 'declined', clock.now());
    const signedIn = anonymous.post('/otp-login/', { email, otp: mailbox.lastCode(email) });
    await waitForLockWaits(service.database.db, 1);
    await decline.commit();
    expect((await signedIn).body).toMatchObject({ employee: null, company: null });
    expect(await statusOf(admin, employeeId)).toBe('pending');
  },
);

describe('a company', () => {
  test('reaches no account: neither by adding its address, nor by a key, nor by renaming somebody', async () => {
    const attacker = await service.registerCompany({ name: 'Attacker' });
    const victim = await service.registerCompany({ name: 'Victim' });
    await service.signIn(victim.email);
    const { employeeId } = await invite(attacker, victim.email);
    const { body: key } = await attacker.post('/api/api-keys/', { name: 'SSO', scopes: ['login'] });
    const opened = await anonymous.post(
      '/token-login/',
      { email: victim.email, company_id: attacker.companyId },
      { headers: { authorization: `Bearer ${key.key}` } },
    );
    expect(opened.body.employee._id).toBe(employeeId);
    const puppet = service.as(opened.body);
    const bound = { status: 403, code: 'SESSION_BOUND' };
    const claim = { email: victim.email, company_id: victim.companyId };
    expect(errorOf(await puppet.post('/token-login/', claim))).toEqual(bound);
    expect(errorOf(await puppet.get('/api/sessions/'))).toEqual(bound);
    expect(errorOf(await puppet.get('/api/invitations/'))).toEqual(bound);
    expect((await loginByPassword(victim.email)).body.company.company_id).toBe(victim.companyId);
    expect((await victim.get('/api/sessions/')).status).toBe(200);
  });

  test('of the same name does not make the /login/ of somebody whom it invited ambiguous', async () => {
    const victim = await service.registerCompany({ name: 'Twin' });
    await service.signIn(victim.email);
    const twin = await service.registerCompany({ name: 'Twin' });
    await invite(twin, victim.email);
    expect((await loginByPassword(victim.email)).body.company.company_id).toBe(victim.companyId);
  });

  test('that hires an address which somebody squatted gives the squatter nothing', async () => {
    const email = newAddress();
    const squatter = await squat(service, email);
    const admin = await service.registerCompany();
    const { employeeId } = await invite(admin, email);
    const { body } = await loginByCode(email);
    expect(body.employee._id).toBe(employeeId);
    expect(errorOf(await squatter.get('/api/sessions/'))).toMatchObject({ code: 'SESSION_ENDED' });
    expect(errorOf(await loginByPassword(email))).toEqual({ status: 401, code: 'INVALID_CREDENTIALS' });
  });
});
