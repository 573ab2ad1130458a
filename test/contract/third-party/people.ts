import assert from 'node:assert/strict';
import { answerOf, clientOf, codeOf, mailed, type Pair } from './client.ts';

/* A company, its people, and all ways for them to come in. */

export type Person = { id: number; email: string; pair: Pair };
export type Company = { companyId: number; ada: Person; grace: Person };

const anonymous = clientOf();

export async function registerCompany(): Promise<Company> {
  const email = 'ada@example.com';
  await answerOf(anonymous.POST('/get-register-otp/', { body: { email } }));
  const name = { company_name: 'Analytical Engines', first_name: 'Ada', last_name: 'Lovelace' };
  const otp = await mailed(email, /\b\d{6}\b/);
  const login = await answerOf(
    anonymous.POST('/api/create-company-and-employee/', { body: { ...name, email, otp, referral_code: 'FRIEND' } }),
  );
  assert.equal(login.subscription.trial, true);
  assert.equal(login.token_type, 'Bearer');
  assert.ok(login.company && login.employee?.isAdmin);
  const companyId = login.company.company_id;
  const ada = { id: login.employee._id, email, pair: login };
  return { companyId, ada, grace: await addGrace(companyId, ada) };
}

async function addGrace(companyId: number, ada: Person): Promise<Person> {
  const email = 'grace@example.com';
  const grace = { first_name: 'Grace', last_name: 'Hopper', email, companyId, designation: 'Engineer', salary: 52_000 };
  const added = await answerOf(clientOf(ada.pair).POST('/employee/add/', { body: grace }));
  assert.deepEqual([added.name, added.salary, added.phone], ['Grace Hopper', 52_000, null]);
  assert.equal(await codeOf(clientOf(ada.pair).POST('/employee/add/', { body: grace })), 'EMPLOYEE_EXISTS');
  await answerOf(anonymous.POST('/verify-email/', { body: { email } }));
  const otp = await mailed(email, /\b\d{6}\b/);
  const login = await answerOf(anonymous.POST('/otp-login/', { body: { email, otp } }));
  if (!('access_token' in login)) throw new Error('Grace is in one company only');
  return { id: added._id, email, pair: login };
}

export async function manageEmployees({ companyId, ada, grace }: Company): Promise<void> {
  const asAda = clientOf(ada.pair);
  const asGrace = clientOf(grace.pair);
  const ofCompany = { params: { path: { company_id: companyId } } };
  const ofGrace = { params: { path: { _id: grace.id } } };
  const { employees } = await answerOf(asAda.GET('/employee/list/{company_id}/', ofCompany));
  assert.deepEqual(new Set(employees.map(({ email }) => email)), new Set([ada.email, grace.email]));
  const me = await answerOf(asGrace.GET('/employee/me/{employee_id}/', { params: { path: { employee_id: ada.id } } }));
  assert.deepEqual([me.name, me.salary], ['Ada Lovelace', null]);
  const changes = { isTeamLeader: true, date_of_birth: '1906-12-09' };
  const changed = await answerOf(asAda.PATCH('/api/employees/{_id}/', { ...ofGrace, body: changes }));
  assert.deepEqual([changed.isTeamLeader, changed.date_of_birth], [true, '1906-12-09']);
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const pictured = await answerOf(
    asGrace.PATCH('/employee/update-picture/{_id}/', { ...ofGrace, body: { profilePicture: pixel } }),
  );
  assert.ok(pictured.profilePicture);
  assert.equal((await fetch(pictured.profilePicture)).headers.get('content-type'), 'image/webp');
  const query = { ...ofCompany.params, query: { q: 'hopp' } };
  const found = await answerOf(asGrace.GET('/employees/search/{company_id}/', { params: query }));
  assert.deepEqual(
    found.employees.map(({ _id }) => _id),
    [grace.id],
  );

  const alan = { first_name: 'Alan', last_name: 'Turing', email: 'alan@example.com', companyId };
  const { _id } = await answerOf(asAda.POST('/employee/add/', { body: alan }));
  const ofAlan = { params: { path: { _id } } };
  assert.deepEqual(await answerOf(asAda.DELETE('/api/employees/{_id}/', ofAlan)), { success: true });
  const active = await answerOf(asAda.GET('/employee/list/activeUsers/{company_id}/', ofCompany));
  assert.deepEqual(active.deletedEmployees, [{ _id, name: 'Alan Turing' }]);
  const inactive = await answerOf(asAda.GET('/employee/list/InactiveUsers/{company_id}/', ofCompany));
  assert.deepEqual(
    inactive.employees.map(({ isDeleted }) => isDeleted),
    [true],
  );
  assert.equal((await answerOf(asAda.POST('/api/employees/{_id}/restore/', ofAlan))).isDeleted, false);
}

export async function changeCompany({ companyId, ada }: Company): Promise<void> {
  const asAda = clientOf(ada.pair);
  const ofCompany = { params: { path: { company_id: companyId } } };
  const body = { name: 'Difference Engines', timezone: 'Europe/London' };
  assert.equal((await answerOf(asAda.PUT('/company/{company_id}/update/', { ...ofCompany, body }))).name, body.name);
  const { company, plans, subscriptions } = await answerOf(asAda.GET('/company/{company_id}/details/', ofCompany));
  assert.equal(company.timezone, 'Europe/London');
  assert.ok(plans.some(({ change }) => change === 'upgrade') && subscriptions.length === 1);
  const wrong = await asAda.PUT('/company/{company_id}/update/', { ...ofCompany, body: { timezone: 'Mars/Olympus' } });
  assert.deepEqual([wrong.response.status, wrong.error?.issues?.[0]?.path], [400, ['timezone']]);
  const named = { ...ofCompany, body: { name: body.name } };
  const { closesAt } = await answerOf(asAda.POST('/api/company/{company_id}/close/', named));
  assert.equal((await answerOf(asAda.GET('/company/{company_id}/details/', ofCompany))).closesAt, closesAt);
  const closed = await asAda.PUT('/company/{company_id}/update/', { ...ofCompany, body });
  assert.deepEqual([closed.response.status, closed.error?.code], [409, 'COMPANY_CLOSED']);
  assert.equal((await answerOf(asAda.POST('/api/company/{company_id}/reopen/', ofCompany))).name, body.name);
}

export async function signInEachWay({ companyId, ada }: Company): Promise<void> {
  const { email } = ada;
  await answerOf(anonymous.POST('/reset/link/', { body: { email } }));
  const token = await mailed(email, /(?<=token=)[\w-]+/);
  const first = { new_password: 'correct horse battery', confirm_password: 'correct horse battery' };
  await answerOf(anonymous.POST('/reset/verify/', { body: { token, ...first } }));
  const login = await answerOf(anonymous.POST('/login/', { body: { email, password: first.new_password } }));
  assert.ok('access_token' in login);
  const asAda = clientOf(login);
  const second = { new_password: 'staple of another horse', confirm_password: 'staple of another horse' };
  const change = { current_password: first.new_password, ...second };
  await answerOf(
    asAda.PUT('/employee/password/{employee_id}/', { params: { path: { employee_id: ada.id } }, body: change }),
  );
  assert.equal(
    await codeOf(anonymous.POST('/login/', { body: { email, password: first.new_password } })),
    'INVALID_CREDENTIALS',
  );

  const google = { token: process.env['GOOGLE_TOKEN']!, email };
  assert.ok('access_token' in (await answerOf(anonymous.POST('/api/google-login/', { body: google }))));
  const apple = { token: process.env['APPLE_TOKEN']!, company_id: companyId };
  assert.ok('access_token' in (await answerOf(anonymous.POST('/api/apple-login/', { body: apple }))));
  const moved = await answerOf(asAda.POST('/token-login/', { body: { email, company_id: companyId, isAdmin: true } }));
  const renewed = await answerOf(
    anonymous.POST('/api/token/refresh/', { body: { refresh_token: moved.refresh_token } }),
  );
  const { sessions } = await answerOf(clientOf(renewed).GET('/api/sessions/'));
  const other = sessions.find(({ isCurrent }) => !isCurrent)!;
  await answerOf(
    clientOf(renewed).DELETE('/api/sessions/{session_id}/', { params: { path: { session_id: other._id } } }),
  );
  await answerOf(clientOf(renewed).POST('/logout/'));
  assert.equal(await codeOf(clientOf(renewed).GET('/api/sessions/')), 'SESSION_ENDED');
}

export async function useKeys({ companyId, ada }: Company): Promise<void> {
  const asAda = clientOf(ada.pair);
  const made = await answerOf(asAda.POST('/api/api-keys/', { body: { name: 'Nightly', scopes: ['read'] } }));
  const asScript = clientOf(made.key);
  const ofCompany = { params: { path: { company_id: companyId } } };
  const whose = await answerOf(asScript.GET('/api/api-keys/current/'));
  assert.deepEqual([whose.key._id, whose.company.company_id], [made._id, companyId]);
  const { tasks } = await answerOf(asScript.GET('/task-statistics/{company_id}/', ofCompany));
  assert.equal(typeof tasks.byStatus.in_review, 'number');
  assert.equal(await codeOf(asScript.POST('/api/projects/', { body: { name: 'No' } })), 'SCOPE_REQUIRED');
  assert.equal((await answerOf(asAda.GET('/api/api-keys/'))).keys.length, 1);
  await answerOf(asAda.DELETE('/api/api-keys/{key_id}/', { params: { path: { key_id: made._id } } }));
  assert.equal(await codeOf(asScript.GET('/task-statistics/{company_id}/', ofCompany)), 'INVALID_TOKEN');
}

/** A program registers, and Ada lets it act as her. */
export async function letProgramIn({ ada }: Company): Promise<void> {
  const redirect_uri = 'http://127.0.0.1:8765/callback';
  const registration = await fetch(`${process.env['BASE_URL']}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [redirect_uri] }),
  });
  const { client_id } = (await registration.json()) as { client_id: string };
  const code_challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  const asked = { client_id, redirect_uri, code_challenge, code_challenge_method: 'S256' as const };
  const { redirect_to } = await answerOf(
    clientOf(ada.pair).POST('/api/oauth/authorizations/', { body: { ...asked, scopes: ['time:read'] } }),
  );
  assert.ok(new URL(redirect_to).searchParams.has('code'));
}

/** Two more companies invite somebody who has a company of their own: one is declined, one accepted by the link of its mail. */
export async function answerInvitations(): Promise<void> {
  const invited = await register('joan@example.com');
  const asInvited = clientOf(invited);
  for (const email of ['first@example.com', 'second@example.com']) {
    const inviter = await register(email);
    const person = { first_name: 'Joan', last_name: 'Clarke', email: 'joan@example.com' };
    const companyId = inviter.company!.company_id;
    await answerOf(clientOf(inviter).POST('/employee/add/', { body: { ...person, companyId } }));
    const { invitations } = await answerOf(asInvited.GET('/api/invitations/'));
    assert.deepEqual(
      invitations.map(({ company_id }) => company_id),
      [companyId],
    );
    const path = { invitation_id: invitations[0]!._id };
    const token = await mailed(person.email, new RegExp(`(?<=invitations/${path.invitation_id}\\?token=)[\\w-]+`));
    if (email === 'first@example.com')
      await answerOf(asInvited.POST('/api/invitations/{invitation_id}/decline/', { params: { path } }));
    else {
      const accepted = await answerOf(
        asInvited.POST('/api/invitations/{invitation_id}/accept/', { params: { path }, body: { token } }),
      );
      assert.deepEqual([accepted.company?.company_id, accepted.employee?.invitationStatus], [companyId, 'accepted']);
    }
  }
}

export async function register(email: string) {
  await answerOf(anonymous.POST('/get-register-otp/', { body: { email } }));
  const name = { company_name: 'Weavers', first_name: 'Joan', last_name: 'Clarke' };
  const otp = await mailed(email, /\b\d{6}\b/);
  return answerOf(anonymous.POST('/api/create-company-and-employee/', { body: { ...name, email, otp } }));
}
