import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { changeEvents } from '../../server/features/change-events/catalogue.ts';
import { operationsOf, type Operation } from '../../server/kernel/operations.ts';
import { createIdentityProvider } from '../../server/platform/identity-provider.ts';
import { appRouter } from '../../server/router.ts';
import type { Actor, Answer } from '../support/actor.ts';
import { startIssuer } from '../support/issuer.ts';
import { keepRows } from '../support/kept-rows.ts';
import { subscribe } from '../support/plan.ts';
import { password, startService } from '../support/service.ts';
import { callOperation, exampleWith, type Input } from '../support/smoke-calls.ts';
import { makeThings } from '../support/things.ts';

/*
 * Every mutation that declares change events records them all, and no others, when it changes all that it can. Operations are
 * called with their documented examples, or as `calls` says where the example needs a past, such as a running timer.
 */

const issuer = await startIssuer(() => service.clock.now());
const service = await startService({
  identityProviders: (clock) => {
    const provider = createIdentityProvider({ ...issuer, audiences: [issuer.audience] }, clock);
    return { google: provider, apple: provider };
  },
});
const { anonymous, database, mailbox } = service;
const { db } = database;
const admin = await service.signIn((await service.registerCompany()).email);
await subscribe(service, admin, 'enterprise');
const plain = await service.addEmployee(admin);
const things = await makeThings(service, admin, plain);
await service.drain();
const restore = await keepRows(db);
const evented = operationsOf(appRouter).filter(({ meta }) => (meta.changes ?? []).length > 0);

/** The last number of each stream. */
async function readPositions(): Promise<Map<string, number>> {
  const rows = await db.selectFrom('event_streams').select(['company_id', 'stream', 'last_sequence']).execute();
  return new Map(rows.map((row) => [`${row.company_id} ${row.stream}`, row.last_sequence]));
}

const known = new Map(changeEvents.map((event) => [event.type, event]));

/** The types of the change events that were appended since, and whether each payload is as it is declared. */
async function typesSince(positions: Map<string, number>): Promise<string[]> {
  const rows = await db.selectFrom('events').select(['company_id', 'stream', 'sequence', 'type', 'payload']).execute();
  const fresh = rows.filter((row) => row.sequence > (positions.get(`${row.company_id} ${row.stream}`) ?? 0));
  const changes = fresh.filter(({ type }) => known.has(type));
  for (const { type, payload } of changes) expect(known.get(type)!.payload.strict().parse(payload)).toEqual(payload);
  return [...new Set(changes.map(({ type }) => type))].toSorted();
}

async function addKey(employeeId: number, companyId = admin.companyId): Promise<void> {
  const row = {
    name: 'Script',
    key_hash: randomUUID(),
    key_start: 'wms_abc',
    scopes: ['read'],
    created_at: new Date(),
  };
  await db
    .insertInto('api_keys')
    .values({ company_id: companyId, employee_id: employeeId, ...row })
    .execute();
}

/** Somebody with an API key whose account has not proved its address, and with an invitation of another company. */
async function addUnproved(): Promise<Actor & { invitedTo: number }> {
  const person = await service.addEmployee(admin);
  await addKey(person.employeeId);
  const inviter = await service.registerCompany();
  const { email } = person;
  const { companyId } = inviter;
  await inviter.post('/employee/add/', { first_name: 'Ada', last_name: 'Lovelace', email, companyId });
  await db.updateTable('accounts').set({ email_verified_at: null }).where('email', '=', email).execute();
  return { ...person, invitedTo: companyId };
}

async function codeFor(path: string, email: string): Promise<string> {
  await anonymous.post(path, { email });
  await service.drain();
  return mailbox.lastCode(email);
}

async function resetTokenFor(email: string): Promise<string> {
  await anonymous.post('/reset/link/', { email });
  await service.drain();
  return new URL(/https:\S+token=\S+/.exec(mailbox.to(email).at(-1)!.text)![0]).searchParams.get('token')!;
}

async function loginByIdentity(path: string): Promise<() => Promise<Answer>> {
  const { email, invitedTo } = await addUnproved();
  const token = await issuer.sign({ subject: email, email });
  return () => anonymous.post(path, { token, company_id: invitedTo });
}

const startTimer = () =>
  db
    .insertInto('timers')
    .values({
      company_id: admin.companyId,
      employee_id: admin.employeeId,
      task_id: things.task,
      start_time: new Date(service.clock.now().getTime() - 25 * 3600 * 1000),
    })
    .execute();

const newPasswords = { new_password: 'a horse of another colour', confirm_password: 'a horse of another colour' };

/** Prepares what an example cannot know, and answers a call of its own where the input differs too. */
const calls: Record<string, () => Promise<unknown>> = {
  'auth.googleLogin': () => loginByIdentity('/api/google-login/'),
  'auth.appleLogin': () => loginByIdentity('/api/apple-login/'),
  'auth.otpLogin': async () => {
    const { email, invitedTo } = await addUnproved();
    const otp = await codeFor('/verify-email/', email);
    return () => anonymous.post('/otp-login/', { email, otp, company_id: invitedTo });
  },
  'registration.registerCompany': async () => {
    const { email } = await addUnproved();
    const otp = await codeFor('/get-register-otp/', email);
    const names = { company_name: 'Compilers', first_name: 'Grace', last_name: 'Hopper' };
    return () => anonymous.post('/api/create-company-and-employee/', { email, otp, ...names });
  },
  'passwords.reset': async () => {
    const person = await service.addEmployee(admin);
    await addKey(person.employeeId);
    const token = await resetTokenFor(person.email);
    return () => anonymous.post('/reset/verify/', { token, ...newPasswords });
  },
  'passwords.change': async () => {
    const person = await service.addEmployee(admin);
    await addKey(person.employeeId);
    const body = { current_password: password, ...newPasswords, revoke_api_keys: true };
    return () => person.put(`/employee/password/${person.employeeId}/`, body);
  },
  'employees.create': async () => {
    const body = { first_name: 'Grace', last_name: 'Hopper', email: 'fitting@example.com', companyId: things.company };
    return () => admin.post('/employee/add/', body);
  },
  'employees.update': async () => {
    await addKey(things.colleague);
    return () => admin.patch(`/api/employees/${things.colleague}/`, { is_active: false, designation: 'Engineer' });
  },
  'employees.delete': () => addKey(things.colleague),
  'employees.endApiKeys': () => addKey(things.colleague),
  'company.reopen': () => admin.post(`/api/company/${things.company}/close/`, { name: 'Analytical Engines' }),
  'employees.restore': () => admin.delete(`/api/employees/${things.colleague}/`),
  'timers.start': () => startTimer(),
  'timers.stop': () => startTimer(),
  'timers.discard': () => startTimer(),
  'timesheetPeriods.submit': async () => {
    // Without approval, handing in is the decision too.
    await admin.put(`/api/time-policy/${things.company}/`, { requireApproval: false });
  },
  'apiKeys.create': async () => () => admin.post('/api/api-keys/', { name: 'Nightly import', scopes: ['read'] }),
};

async function prepare(operation: Operation): Promise<() => Promise<Answer>> {
  await restore();
  const call = await calls[operation.name]?.();
  if (typeof call === 'function') return call as () => Promise<Answer>;
  const input: Input = exampleWith(operation, (kind) => things[kind]);
  return () => callOperation(admin, operation, input);
}

test.each(evented.map((one) => [one.name, one] as const))(
  '%s records the change events that it declares, and no others',
  async (_name, operation) => {
    const call = await prepare(operation);
    await service.drain();
    const positions = await readPositions();
    expect(await call()).toMatchObject({ status: 200 });
    expect(await typesSince(positions)).toEqual(operation.meta.changes!.map(({ type }) => type).toSorted());
  },
);

/** Mutations with an empty update, or one that says what is so already. */
const unchanging: [string, () => Promise<Answer>][] = [
  ['a task', () => admin.patch(`/api/tasks/${things.task}/`, { status: 'todo' })],
  ['a project', () => admin.patch(`/api/projects/${things.project}/`, { status: 'active' })],
  ['a task log', () => admin.put(`/tasklogs/${things.taskLog}/`, { description: 'Gears' })],
  ['an employee', () => admin.patch(`/api/employees/${things.colleague}/`, { first_name: 'Joan' })],
  ['the company', () => admin.put(`/company/${things.company}/update/`, {})],
];

test.each(unchanging)('%s that stays as it is has no event', async (_name, call) => {
  await restore();
  const positions = await readPositions();
  expect(await call()).toMatchObject({ status: 200 });
  expect(await typesSince(positions)).toEqual([]);
});

test('a mutation that is refused leaves no event', async () => {
  await restore();
  const positions = await readPositions();
  expect((await plain.delete(`/api/projects/${things.project}/`)).status).toBe(403);
  expect((await admin.patch(`/api/tasks/${things.task}/`, { status: 'done', owner_id: 987_654 })).status).toBe(400);
  expect(await typesSince(positions)).toEqual([]);
});
