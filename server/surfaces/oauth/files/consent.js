/*
 * The page where a person says what a program may do. It signs them in through the operations of the service, keeps the tokens to
 * itself, and ends the session before it leaves.
 */

const main = document.querySelector('main');
const { deny, authorization } = JSON.parse(main.dataset.request);
const problem = document.querySelector('#problem');
const steps = [...document.querySelectorAll('form')];

/** The tokens of the session, once the person is signed in. */
let session;
let address = '';

/** Calls an operation; the page is one level below the root of the service, behind any proxy. */
async function call(path, body, headers = {}) {
  const response = await fetch(`../${path}`, {
    method: 'POST',
    credentials: 'omit',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail ?? 'The service could not answer.');
  return answer;
}

const credentials = () => ({
  Authorization: `Bearer ${session.access_token}`,
  'X-Refresh-Token': session.refresh_token,
});

function show(id) {
  for (const step of steps) step.hidden = step.id !== id;
  document.querySelector(`#${id} h2`).focus();
}

/** Runs one step; a failure is told, and the person tries again. */
async function attempt(step) {
  problem.hidden = true;
  const buttons = [...document.querySelectorAll('button')];
  for (const button of buttons) button.disabled = true;
  try {
    await step();
  } catch (error) {
    problem.textContent = error instanceof TypeError ? 'The service could not be reached.' : error.message;
    problem.hidden = false;
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

function onSubmit(id, step) {
  document.querySelector(`#${id}`).addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt(() => step(new FormData(event.target)));
  });
}

function onClick(id, step) {
  document.querySelector(`#${id}`).addEventListener('click', () => void attempt(step));
}

/** Goes on with a session, or asks for the company first. */
function signedIn(answer) {
  if (answer.login_ticket !== undefined) {
    document.querySelector('#companies').replaceChildren(...answer.companies.map((one, at) => choiceOf(one, at === 0)));
    document.querySelector('#choose-company').dataset.ticket = answer.login_ticket;
    show('choose-company');
    return;
  }
  session = answer;
  if (answer.employee === null) throw new Error('Your account belongs to no company, so there is nothing to act in.');
  const { name, isAdmin } = answer.employee;
  document.querySelector('#person').textContent = name;
  document.querySelector('#company').textContent = answer.company.company_name;
  // Only admins may give this.
  const admin = document.querySelector('input[value="admin"]');
  if (admin !== null && !isAdmin) {
    admin.checked = false;
    admin.disabled = true;
  }
  show('consent');
}

function choiceOf({ company_id: id, company_name: name }, isFirst) {
  const label = document.createElement('label');
  const input = document.createElement('input');
  label.className = 'choice';
  Object.assign(input, { type: 'radio', name: 'company', value: id, checked: isFirst, required: true });
  label.append(input, ` ${name}`);
  return label;
}

/** The session was for this alone. */
async function leaveFor(url) {
  if (session !== undefined) await call('logout/', {}, credentials()).catch(() => {});
  // A program of this computer opens beside this page.
  for (const part of document.querySelectorAll('form, .actions.last')) part.hidden = true;
  document.querySelector('#done').hidden = false;
  location.replace(url);
}

onSubmit('sign-in', async (form) => {
  address = form.get('email');
  if (form.get('password') === '') throw new Error('Type your password, or have a code sent.');
  signedIn(await call('login/', { email: address, password: form.get('password') }));
});

onClick('send-code', async () => {
  const field = document.querySelector('#email');
  if (!field.reportValidity()) return;
  address = field.value;
  await call('verify-email/', { email: address });
  document.querySelector('#code-email').textContent = address;
  show('enter-code');
  document.querySelector('#otp').focus();
});

onClick('use-password', async () => show('sign-in'));

onSubmit('enter-code', async (form) => signedIn(await call('otp-login/', { email: address, otp: form.get('otp') })));

onSubmit('choose-company', async (form) => {
  const { ticket } = document.querySelector('#choose-company').dataset;
  const chosen = { email: address, company_id: Number(form.get('company')) };
  signedIn(await call('token-login/', chosen, { Authorization: `Bearer ${ticket}` }));
});

onSubmit('consent', async (form) => {
  const scopes = form.getAll('scope');
  if (scopes.length === 0) throw new Error('Choose at least one thing that it may do, or refuse.');
  const { redirect_to: back } = await call('api/oauth/authorizations/', { ...authorization, scopes }, credentials());
  await leaveFor(back);
});

onClick('deny', () => leaveFor(deny));

document.querySelector('#sign-in').hidden = false;
