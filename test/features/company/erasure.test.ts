import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { catalogue } from '../../../db/catalogue.ts';
import { verifyCounts } from '../../../db/derived/verify-counts.ts';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import { sealCompany } from '../../../server/features/audit/seals.ts';
import { verifyCompany } from '../../../server/features/audit/verify-company.ts';
import { generateKeys } from '../../../server/platform/signing-keys.ts';
import { createTokens, type Tokens } from '../../../server/platform/tokens.ts';
import { createIdentityProvider } from '../../../server/platform/identity-provider.ts';
import { createCaller, createCallerWith, errorOf, headersOf, type Actor, type Caller } from '../../support/actor.ts';
import { findTexts } from '../../support/all-rows.ts';
import { startIssuer } from '../../support/issuer.ts';
import { consent, postForm, registerClient } from '../../support/oauth.ts';
import { password, startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';
import { waitUntil } from '../../support/waiting.ts';

/* The erasure of a person: nothing of them is found in any table afterwards, and everything else is as it was. */

const issuer = await startIssuer(() => service.clock.now());
const service = await startService({
  settings: { trustProxy: ['127.0.0.1'] },
  identityProviders: (clock) => {
    const provider = createIdentityProvider({ ...issuer, audiences: [issuer.audience] }, clock);
    return { google: provider, apple: provider };
  },
});
const { database, clock, mailbox, app } = service;
const { db } = database;

/** What a person leaves behind; each text occurs nowhere else. */
function makeTraces() {
  const word = () => `x${randomBytes(5).toString('hex')}`;
  const [first, last, earlier, own] = [word(), word(), word(), word()];
  return {
    firstName: `Zephy${first}`,
    lastName: `O'Quill<${last}>`,
    earlierLastName: `Maiden${earlier}`,
    ownName: `Dr. "${own}" Quill & Daughters`,
    address: `${first}.quill+work@persons.example`,
    earlierAddress: `${earlier}@persons.example`,
    phone: `+44 20 ${randomBytes(4).readUInt32BE()}`,
    designation: `Engraver ${word()}`,
    salary: '73219.57',
    birthday: '1951-07-19',
    joined: '1997-02-23',
    gender: `gender ${word()}`,
    country: word().slice(0, 10),
    network: '203.0.113.77',
    device: `Browser/${word()}`,
    requestId: `request-${word()}`,
    keyName: `Key ${word()}`,
    subject: `subject-${word()}`,
  };
}
type Traces = ReturnType<typeof makeTraces>;

type Planted = { person: Caller; employeeId: number; traces: Traces; hidden: Record<string, string>; taskId: number };

/** Adds a person and has their data get everywhere by what people do. */
async function plant(admin: Actor, colleague: Actor): Promise<Planted> {
  const traces = makeTraces();
  const added = await admin.post(
    '/employee/add/',
    {
      first_name: traces.firstName,
      last_name: traces.earlierLastName,
      email: traces.earlierAddress,
      companyId: admin.companyId,
      phone: traces.phone,
      designation: traces.designation,
      salary: Number(traces.salary),
    },
    { headers: { 'idempotency-key': `add ${traces.keyName}` } },
  );
  expect(added.status).toBe(200);
  const employeeId: number = added.body._id;
  const { projectId, taskId } = await startWork(admin);
  // Earlier words about them, by an address and a name that change later.
  await colleague.post('/api/task-chats/', {
    taskId,
    sender: colleague.employeeId,
    message: `Ask @${traces.earlierAddress}, that is ${traces.firstName} ${traces.earlierLastName}.`,
    mentionedEmails: [traces.earlierAddress],
  });
  await service.drain();
  const changed = await admin.patch(`/api/employees/${employeeId}/`, {
    last_name: traces.lastName,
    name: traces.ownName,
    email: traces.address,
    date_of_birth: traces.birthday,
    date_of_joining: traces.joined,
    gender: traces.gender,
    country_code: traces.country,
    isTeamLeader: true,
  });
  expect(changed.status).toBe(200);
  await service.drain();

  const origin = { 'x-forwarded-for': traces.network, 'user-agent': traces.device, 'x-request-id': traces.requestId };
  const { post } = createCaller(service.url);
  const signIn = async (path: string, body: object): Promise<Caller> => {
    const answer = await post(path, body, { headers: origin });
    expect([path, answer.status]).toEqual([path, 200]);
    return createCallerWith(service.url, { ...headersOf(answer.body), ...origin });
  };
  await post('/verify-email/', { email: traces.address }, { headers: origin });
  await service.drain();
  await signIn('/otp-login/', { email: traces.address, otp: mailbox.lastCode(traces.address) });
  const token = await issuer.sign({ subject: traces.subject, email: traces.address });
  const person = await signIn('/api/google-login/', { token });
  await post('/reset/link/', { email: traces.address });
  await service.drain();
  await service.signIn(traces.address, admin.companyId);
  await signIn('/login/', { email: traces.address, password });
  await post('/login/', { email: traces.address, password: 'wrong' }, { headers: origin });
  await post('/verify-email/', { email: traces.address }, { headers: origin });

  const newPassword = `${traces.keyName} horse`;
  const changedPassword = { current_password: password, new_password: newPassword, confirm_password: newPassword };
  expect((await person.put(`/employee/password/${employeeId}/`, changedPassword)).status).toBe(200);

  const picture = await sharp({ create: { width: 40, height: 40, channels: 3, background: '#c0ffee' } })
    .composite([{ input: randomBytes(40 * 40 * 3), raw: { width: 40, height: 40, channels: 3 } }])
    .png()
    .toBuffer();
  const shown = await person.patch(`/employee/update-picture/${employeeId}/`, {
    profilePicture: picture.toString('base64'),
  });
  expect(shown.status).toBe(200);
  const key = await person.post('/api/api-keys/', { name: traces.keyName, scopes: ['read', 'write'] });
  expect(key.status).toBe(200);
  expect(
    (
      await createCaller(service.url).send('GET', '/api/sessions/', undefined, {
        headers: { authorization: `Bearer ${key.body.key}` },
      })
    ).status,
  ).toBe(403);

  // Work, whose words stay, and what others are told of it.
  const hours = { start_time: '2026-03-01T09:00:00Z', end_time: '2026-03-01T11:00:00Z' };
  const tracked = { task_id: taskId, employee_id: employeeId, ...hours };
  expect((await person.post('/tasklog/create/', tracked)).status).toBe(200);
  expect((await person.post('/api/tasklogs/timer/start/', { taskId })).status).toBe(200);
  await person.patch(`/api/tasks/${taskId}/`, { collaboratorIds: [employeeId, colleague.employeeId] });
  const said = await person.post('/api/task-chats/', {
    taskId,
    sender: employeeId,
    message: 'The gears turn.',
    mentionedEmails: [colleague.email],
  });
  expect(said.status).toBe(200);
  const liked = await person.post(`/api/like-chat/${employeeId}/${said.body._id}/`);
  expect(liked.status).toBe(200);
  const clientId = await registerClient(service);
  const granted = await postForm(service, '/oauth/token', await consent(person, clientId));
  const end = new URLSearchParams({ token: granted.body.refresh_token, client_id: clientId });
  await fetch(`${service.url}/oauth/revoke`, { method: 'POST', body: end, headers: origin });
  const ended = db.selectFrom('audit_log').where('operation', '=', 'oauth.revoke').select('network');
  expect(await ended.execute()).toContainEqual({ network: traces.network });
  await colleague.post('/api/task-chats/', {
    taskId,
    sender: colleague.employeeId,
    format: 'text',
    message: `@${traces.address} and ${traces.ownName}, also ${traces.ownName.toUpperCase()} (${traces.firstName} ${traces.lastName})`,
  });
  await person.put(`/api/notification-preferences/${employeeId}/`, { message: { email: true, inApp: true } });
  await admin.post('/api/projects/', { name: 'Another', owner_id: employeeId });
  await admin.get(`/api/audit/company/${admin.companyId}/export/?employee_id=${employeeId}`);
  await service.drain();
  await app.services.audit.refusals.flush();
  expect(projectId).toBeGreaterThan(0);
  return { person, employeeId, traces, hidden: await readHidden(employeeId, traces), taskId };
}

/** What only the database knows of a person. */
async function readHidden(employeeId: number, { address }: Traces): Promise<Record<string, string>> {
  const { rows } = await sql<Record<string, string>>`
    select p.picture_id, substr(encode(p.content, 'hex'), 1, 400) as picture, a.password_hash, k.key_hash,
      i.subject as "identitySubject", c.code_hash
    from employees as e join pictures as p on p.company_id = e.company_id and p.picture_id = e.picture_id
    join accounts as a on a.account_id = e.account_id join api_keys as k on k.employee_id = e.employee_id
    join identities as i on i.account_id = a.account_id
    join one_time_codes as c on c.email = a.email
    where e.employee_id = ${employeeId} and a.email = ${address} limit 1`.execute(db);
  expect(rows).toHaveLength(1);
  return rows[0]!;
}

async function sealAll(companyId: number): Promise<void> {
  await waitUntilComplete(companyId);
  await app.auditSealer.run();
}

async function sealBy(tokens: Tokens, companyId: number): Promise<void> {
  await waitUntilComplete(companyId);
  expect(await sealCompany({ database, tokens }, companyId)).toBeGreaterThan(0);
}

/** Waits until no other database of the server has a transaction of before. */
async function waitUntilComplete(companyId: number): Promise<void> {
  const isComplete = async () => {
    const { rows } = await sql<{ complete: boolean }>`
      select max(xid) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint + (select xid_offset from audit_clock) as complete
      from audit_log where company_id = ${companyId}`.execute(db);
    return rows[0]!.complete;
  };
  await waitUntil(isComplete, { timeout: 120_000 });
}

const verify = async ({ get, companyId }: Actor) => (await get(`/api/audit/company/${companyId}/verify/`)).body;

/** Totals that must be as they were, and agree with what is counted from the rows. */
async function readTotals({ get, companyId }: Actor) {
  const wrong = [await verifyTotals(db, companyId), await verifyCounts(db, companyId)].flatMap(
    (one) => one.differences,
  );
  const statistics = await get(`/task-statistics/${companyId}/`);
  const performance = await get(`/api/performance/${companyId}/`);
  const { rows } = await sql`
    select employee_id, sum(logged_seconds) as seconds from work_days where company_id = ${companyId} group by 1 order by 1`.execute(
    db,
  );
  return { wrong, statistics: statistics.body, performance: performance.body, rows };
}

/** Personal columns that the people of this file do not fill. */
const notPlanted = [
  // Goes with the account, by its foreign key.
  'apple_claims.subject',
];

/** Columns with personal data that have none in the whole database, so that their erasure would go unseen. */
async function findEmptyColumns(): Promise<string[]> {
  const empty: string[] = [];
  for (const [table, { columns }] of Object.entries(catalogue))
    for (const [column, label] of Object.entries(columns)) {
      if (label !== 'personal') continue;
      const { rows } = await sql`
        select from ${sql.table(table)} where ${sql.ref(column)} is not null limit 1`.execute(db);
      if (rows.length === 0) empty.push(`${table}.${column}`);
    }
  return empty;
}

/** What an endpoint answers that repeats what it got. */
async function answerOfEndpoint(companyId: number, answer: string): Promise<void> {
  await sql`
    insert into webhook_attempts (company_id, message_id, at, duration_ms, status, answer)
    select company_id, message_id, at, 5, 200, ${`Thanks for ${answer}!`} from webhook_messages
    where company_id = ${companyId} limit 1`.execute(db);
}

describe('a person who is erased', () => {
  test('is found in no table any more, and the log of the company is proved to be what it was', async () => {
    const admin = await service.registerCompany();
    const colleague = await service.addEmployee(admin);
    const webhook = {
      url: 'https://hooks.example.com/',
      events: ['employee.created', 'employee.updated', 'task.updated', 'api_key.created'],
    };
    expect((await admin.post('/api/webhooks/', webhook)).status).toBe(200);
    const { employeeId, traces, hidden, person, taskId } = await plant(admin, colleague);
    await answerOfEndpoint(admin.companyId, traces.address);
    expect((await admin.post('/api/exports/', {})).status).toBe(200);
    await service.drain();
    expect(await findEmptyColumns()).toEqual(notPlanted);
    await sealAll(admin.companyId);
    expect(await verify(admin)).toMatchObject({ isIntact: true, erasedRows: 0 });
    // Proves that each value is looked for as it is stored.
    const planted = { ...traces, ...hidden };
    const found = new Set((await findTexts(db, planted)).map((line) => line.split(': ')[1]));
    expect(Object.keys(planted).filter((name) => !found.has(name))).toEqual([]);

    await person.post('/api/tasklogs/timer/stop/', {});
    const before = await readTotals(admin);
    expect(before.wrong).toEqual([]);
    const erased = await admin.post(`/api/employees/${employeeId}/erase/`);
    expect(erased.body).toMatchObject({
      _id: employeeId,
      name: `Former employee ${employeeId}`,
      email: `erased-${employeeId}@erased.invalid`,
      isDeleted: true,
      is_active: false,
      phone: null,
      salary: null,
      profilePicture: null,
    });
    await service.drain();
    await app.services.audit.refusals.flush();
    expect(await findTexts(db, planted)).toEqual([]);

    const after = await readTotals(admin);
    expect(after.wrong).toEqual([]);
    expect(after.rows).toEqual(before.rows);
    expect(after.statistics).toEqual({ ...before.statistics, employees: { total: 2, active: 2 } });
    expect((await person.get('/api/sessions/')).status).toBe(401);
    const { comments } = (await colleague.get(`/api/tasks/chat/${taskId}/`)).body;
    expect(JSON.stringify(comments)).toContain('The gears turn.');
    expect(JSON.stringify(comments)).toContain(`@erased-${employeeId}@erased.invalid`);

    const verdict = await verify(admin);
    expect(verdict).toMatchObject({ isIntact: true, problem: null });
    expect(verdict.erasedRows).toBeGreaterThan(5);
    // The second look finds nothing more, and neither does a second erasure.
    clock.advance({ minutes: 11 });
    await service.drain();
    expect((await admin.post(`/api/employees/${employeeId}/erase/`)).body).toEqual(erased.body);
    await service.drain();
    await sealAll(admin.companyId);
    expect(await verify(admin)).toMatchObject({ isIntact: true, erasedRows: verdict.erasedRows });
    expect(await findTexts(db, planted)).toEqual([]);
  });

  test('keeps their account and the other company as they are, where they have one', async () => {
    const [admin, elsewhere] = [await service.registerCompany(), await service.registerCompany()];
    const person = await service.addEmployee(admin);
    const { email } = person;
    const there = await service.addEmployee(elsewhere, { email });
    const neighbours = () => readRowsOf(elsewhere.companyId, there.email);
    const before = await neighbours();
    expect((await admin.post(`/api/employees/${person.employeeId}/erase/`)).status).toBe(200);
    await service.drain();
    expect(await neighbours()).toEqual(before);
    expect((await there.get(`/employee/me/${there.employeeId}/`)).body.email).toBe(email);
    expect((await service.signIn(email)).companyId).toBe(elsewhere.companyId);
    expect((await person.get(`/employee/me/${person.employeeId}/`)).status).toBe(401);
  });

  test('cannot be restored or changed, and the address is free for a new employee', async () => {
    const admin = await service.registerCompany();
    const person = await service.addEmployee(admin);
    const path = `/api/employees/${person.employeeId}/`;
    expect((await admin.post(`${path}erase/`)).status).toBe(200);
    const refused = { status: 409, code: 'EMPLOYEE_ERASED' };
    const picture = { profilePicture: null };
    expect(errorOf(await admin.post(`${path}restore/`))).toEqual(refused);
    expect(errorOf(await admin.patch(path, { first_name: 'Grace' }))).toEqual(refused);
    expect(errorOf(await admin.patch(path, { email: person.email }))).toEqual(refused);
    expect(errorOf(await admin.patch(`/employee/update-picture/${person.employeeId}/`, picture))).toEqual(refused);
    const again = await service.addEmployee(admin, { email: person.email });
    expect(again.employeeId).not.toBe(person.employeeId);
    // The second look does not take the new employee for the old one.
    clock.advance({ minutes: 11 });
    await service.drain();
    expect((await again.get(`/employee/me/${again.employeeId}/`)).body.email).toBe(person.email);
  });

  test('leaves the words of a colleague of the same name, and words that only contain it', async () => {
    const admin = await service.registerCompany();
    const names = { first_name: 'Jo', last_name: 'Vance' };
    const [one, other] = [await service.addEmployee(admin, names), await service.addEmployee(admin, names)];
    const { taskId } = await startWork(admin);
    const say = (message: string) =>
      admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message, format: 'text' });
    await say('Jo Vance, and Jo Vanceman');
    const messages = async () => {
      const { comments } = (await admin.get(`/api/tasks/chat/${taskId}/`)).body;
      return comments.map((comment: { message: string }) => comment.message);
    };
    await admin.post(`/api/employees/${one.employeeId}/erase/`);
    await service.drain();
    expect(await messages()).toEqual(['Jo Vance, and Jo Vanceman']);
    await admin.post(`/api/employees/${other.employeeId}/erase/`);
    await service.drain();
    expect(await messages()).toEqual([`Former employee ${other.employeeId}, and Jo Vanceman`]);
  });

  test('is not in addresses of the web either, as these spell them', async () => {
    const admin = await service.registerCompany();
    const names = { first_name: 'Zoë', last_name: 'O’Hara', email: 'zoe.o+hara@persons.example' };
    const person = await service.addEmployee(admin, names);
    const { taskId } = await startWork(admin);
    const query = new URLSearchParams({ who: 'Zoë O’Hara', mail: names.email }).toString();
    const encoded = [names.email, 'Zoë O’Hara'].map(encodeURIComponent).join('/');
    const message = `<a href="https://crm.example/find?${query}">https://crm.example/${encoded.toLowerCase()}/</a>`;
    const image = `https://files.example/${names.email}/plan.png?${query}`;
    await admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message, image });
    await admin.post(`/api/employees/${person.employeeId}/erase/`);
    await service.drain();
    const { comments } = (await admin.get(`/api/tasks/chat/${taskId}/`)).body;
    expect(comments[0].message).not.toMatch(/hara|zo%/i);
    expect(comments[0].image).not.toMatch(/hara|zo%/i);
    expect(comments[0].image).toMatch(/^https:\/\/files\.example\/.*\/plan\.png\?who=/);
    expect(comments[0].message.match(/Former employee/g)).toHaveLength(2);
  });

  test('is found in the other form of accents and between other kinds of white space, and a colleague as well', async () => {
    const admin = await service.registerCompany();
    const names = { first_name: 'Zoë', last_name: 'Léger' };
    const person = await service.addEmployee(admin, names);
    const { taskId } = await startWork(admin);
    const spellings = [
      'ZOE\u0308 LE\u0301GER',
      'Zoë Le\u0301ger',
      'Zoë\u00a0Léger',
      'Zoë\nLéger',
      'Zoë\u202fLéger',
      'Zoë<br>Léger',
    ];
    await admin.post('/api/task-chats/', {
      taskId,
      sender: admin.employeeId,
      message: `${spellings.join('; ')}; Zoë Lége`,
      image: 'https://files.example/?who=Zoe%CC%88%C2%A0L%C3%A9ger',
    });
    const comment = async () => (await admin.get(`/api/tasks/chat/${taskId}/`)).body.comments[0];
    const before = await comment();
    const namesake = { first_name: 'Zoe\u0308', last_name: 'Le\u0301ger' };
    const colleague = await service.addEmployee(admin, namesake);
    await admin.post(`/api/employees/${colleague.employeeId}/erase/`);
    await service.drain();
    expect(await comment()).toEqual(before);
    await admin.post(`/api/employees/${person.employeeId}/erase/`);
    await service.drain();
    const { message, image } = await comment();
    const former = `Former employee ${person.employeeId}`;
    expect(message).toBe(`${spellings.map(() => former).join('; ')}; Zoë Lége`);
    expect(image).toBe(`https://files.example/?who=${former}`);
  });

  test('gets no mail that was waiting, and no stored answer shows them', async () => {
    const admin = await service.registerCompany();
    const key = { headers: { 'idempotency-key': 'the same' } };
    const body = {
      first_name: 'Grace',
      last_name: 'Hopper',
      email: 'stored@waiting.example',
      companyId: admin.companyId,
    };
    const added = await admin.post('/employee/add/', body, key);
    expect((await admin.post('/employee/add/', body, key)).body).toEqual(added.body);
    const erase = () => admin.post(`/api/employees/${added.body._id}/erase/`, undefined, key);
    const erased = await erase();
    await service.drain();
    expect((await erase()).body).toEqual(erased.body);
    const repeated = await admin.post('/employee/add/', body, key);
    expect(errorOf(repeated)).toEqual({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(repeated.body.detail).toContain('erased');
    expect(mailbox.mails.filter(({ to }) => to === body.email)).toEqual([]);
  });
});

/** The rows of a company, and of an account of it, without what every request touches. */
async function readRowsOf(companyId: number, email: string): Promise<unknown> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'company_id' and table_name not in ('audit_log', 'audit_seals')
    order by 1`.execute(db);
  const found: unknown[] = [];
  for (const { name } of tables) {
    const { rows } = await sql`
      select to_jsonb(t) - 'last_used_at' as row from ${sql.table(name)} as t where company_id = ${companyId} order by t::text`.execute(
      db,
    );
    found.push([name, rows]);
  }
  const { rows } = await sql`select * from accounts where email = ${email}`.execute(db);
  return [...found, rows];
}

describe('who may erase whom', () => {
  test('admins may, of their own company and in a session of their own', async () => {
    const admin = await service.registerCompany();
    const neighbour = await service.registerCompany();
    const [person, other] = [await service.addEmployee(admin), await service.addEmployee(admin)];
    const path = `/api/employees/${person.employeeId}/erase/`;
    expect(errorOf(await other.post(path))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
    expect(errorOf(await neighbour.post(path))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await admin.post('/api/employees/987654/erase/'))).toEqual({ status: 404, code: 'NOT_FOUND' });
    const { body: key } = await admin.post('/api/api-keys/', { name: 'Script', scopes: ['write', 'login'] });
    const asKey = { headers: { authorization: `Bearer ${key.key}` } };
    const { send, post } = createCaller(service.url);
    expect(errorOf(await send('POST', path, undefined, asKey))).toEqual({ status: 403, code: 'SESSION_REQUIRED' });
    const who = { email: admin.email, company_id: admin.companyId, isAdmin: true };
    const bound = service.as((await post('/token-login/', who, asKey)).body);
    expect(errorOf(await bound.post(path))).toEqual({ status: 403, code: 'SESSION_BOUND' });
    expect((await person.get(`/employee/me/${person.employeeId}/`)).body.isDeleted).toBe(false);
  });

  test('nobody may erase the owner, or the last active admin', async () => {
    const admin = await service.registerCompany();
    const second = await service.addEmployee(admin, { isAdmin: true });
    const owner = `/api/employees/${admin.employeeId}/`;
    expect(errorOf(await second.post(`${owner}erase/`))).toEqual({ status: 409, code: 'OWNER_NOT_ERASED' });
    await second.patch(owner, { isAdmin: false });
    const own = `/api/employees/${second.employeeId}/erase/`;
    expect(errorOf(await second.post(own))).toEqual({ status: 409, code: 'LAST_ADMIN' });
    await second.patch(owner, { isAdmin: true });
    // An admin who is not the last one may erase themself, and is out with the answer.
    expect((await second.post(own)).status).toBe(200);
    expect((await second.get(`/employee/me/${admin.employeeId}/`)).status).toBe(401);
  });

  test('of two admins who erase each other at once, one is left', async () => {
    const owner = await service.registerCompany();
    const [one, other] = [
      await service.addEmployee(owner, { isAdmin: true }),
      await service.addEmployee(owner, { isAdmin: true }),
    ];
    await one.patch(`/api/employees/${owner.employeeId}/`, { isAdmin: false });
    const answers = await Promise.all([
      one.post(`/api/employees/${other.employeeId}/erase/`),
      other.post(`/api/employees/${one.employeeId}/erase/`),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const left = await sql`
      select from employees where company_id = ${owner.companyId} and is_admin and is_active`.execute(db);
    expect(left.rows).toHaveLength(1);
  });
});

describe('at the same moment', () => {
  test('sign-ins, comments, updates and mentions leave nothing of the person', async () => {
    const admin = await service.registerCompany();
    const colleague = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    for (let round = 0; round < 6; round += 1) {
      const [firstName, email] = [`Racer${round}zyxwvut`, `racer${round}@persons.example`];
      const person = await service.addEmployee(admin, { first_name: firstName, last_name: 'Swift', email });
      const mention = { taskId, sender: colleague.employeeId, message: `@${email}`, mentionedEmails: [email] };
      const own = { taskId, sender: person.employeeId, message: `@${colleague.email}` };
      const path = `/api/employees/${person.employeeId}/`;
      const answers = await Promise.all([
        ...Array.from({ length: 3 }, () => service.anonymous.post('/login/', { email, password })),
        ...Array.from({ length: 3 }, () => colleague.post('/api/task-chats/', mention)),
        person.post('/api/task-chats/', own),
        admin.post(`${path}erase/`),
        person.patch(path, { phone: `+44 ${firstName}` }),
        admin.patch(path, { designation: `Runner ${firstName}` }),
        ...Array.from({ length: 3 }, () => service.anonymous.post('/login/', { email, password })),
      ]);
      expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    }
    await service.drain();
    await app.services.audit.refusals.flush();
    clock.advance({ minutes: 11 });
    await service.drain();
    expect(await findTexts(db, { address: '@persons.example', name: 'zyxwvut' })).toEqual([]);
  });

  test('an earlier name that is written until the second look is erased by it, though the log has it no more', async () => {
    const admin = await service.registerCompany();
    const { employeeId } = await service.addEmployee(admin, { first_name: 'Grace', last_name: 'Murray' });
    await admin.patch(`/api/employees/${employeeId}/`, { last_name: 'Hopper' });
    const { taskId } = await startWork(admin);
    await admin.post(`/api/employees/${employeeId}/erase/`);
    await service.drain();
    const message = 'Grace Murray is Grace Hopper';
    await admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message, format: 'text' });
    const { rows } = await sql`
      select payload from jobs where handler = 'erase-traces' and payload ->> 'employeeId' = ${String(employeeId)}`.execute(
      db,
    );
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/Murray|Hopper/);
    clock.advance({ minutes: 11 });
    await service.drain();
    const { comments } = (await admin.get(`/api/tasks/chat/${taskId}/`)).body;
    const erased = `Former employee ${employeeId}`;
    expect(comments).toMatchObject([{ message: `${erased} is ${erased}` }]);
  });

  test('a job that ends in the middle begins again', async () => {
    const admin = await service.registerCompany();
    const colleague = await service.addEmployee(admin);
    const { employeeId, traces, hidden } = await plant(admin, colleague);
    await admin.post(`/api/employees/${employeeId}/erase/`);
    // The audit log comes last: its lock keeps the first attempt from it.
    await sql`alter table audit_erasures rename to audit_erasures_away`.execute(db);
    await service.drain();
    await sql`alter table audit_erasures_away rename to audit_erasures`.execute(db);
    expect(await findTexts(db, { ...traces, ...hidden })).not.toEqual([]);
    clock.advance({ minutes: 5 });
    await service.drain();
    expect(await findTexts(db, { ...traces, ...hidden })).toEqual([]);
    expect(await verify(admin)).toMatchObject({ isIntact: true });
  });
});

describe('the proof of erased rows', () => {
  async function eraseOne(): Promise<{ admin: Actor; employeeId: number }> {
    const admin = await service.registerCompany();
    const person = await service.addEmployee(admin);
    await sealAll(admin.companyId);
    await admin.post(`/api/employees/${person.employeeId}/erase/`);
    await service.drain();
    expect(await verify(admin)).toMatchObject({ isIntact: true });
    return { admin, employeeId: person.employeeId };
  }

  /** Changes what the database protects, as its owner can. */
  async function tamper(statement: ReturnType<typeof sql>): Promise<void> {
    await db.transaction().execute(async (transaction) => {
      const tables = ['audit_log', 'audit_seals', 'audit_erasures'].map((name) => sql.table(name));
      for (const table of tables) await sql`alter table ${table} disable trigger user`.execute(transaction);
      await statement.execute(transaction);
      for (const table of tables) await sql`alter table ${table} enable trigger user`.execute(transaction);
    });
  }

  test('covers a row as it was erased, and no further change of it', async () => {
    const { admin, employeeId } = await eraseOne();
    await tamper(sql`
      update audit_log set operation = 'tasks.update'
      where company_id = ${admin.companyId} and subject_kind = 'employee' and subject_id = ${employeeId}
        and operation = 'employees.create'`);
    expect(await verify(admin)).toMatchObject({ isIntact: false, problem: { kind: 'row changed' } });
  });

  test('is signed: a row that somebody else erases is a changed one', async () => {
    const { admin } = await eraseOne();
    const { tokens } = app.services;
    const forger = await createTokens(await generateKeys());
    const [row] = await db
      .selectFrom('audit_log')
      .where('company_id', '=', admin.companyId)
      .where('operation', '=', 'registration.registerCompany')
      .select('audit_id')
      .execute();
    for (const { statements } of [tokens, forger]) {
      const isOwn = statements === tokens.statements;
      const kind = isOwn ? 'audit-seal' : 'audit-erasure';
      const statement = await statements.sign(kind, { company: admin.companyId, rows: [[row!.audit_id, 'any']] });
      await db.insertInto('audit_erasures').values({ company_id: admin.companyId, statement }).execute();
    }
    await tamper(sql`
      update audit_log set changes = '[]' where company_id = ${admin.companyId} and audit_id = ${row!.audit_id}`);
    expect(await verify(admin)).toMatchObject({
      isIntact: false,
      problem: { kind: 'row changed', rowId: row!.audit_id },
    });
  });

  test('outlives its key, by the seals of the next one', async () => {
    const { admin } = await eraseOne();
    const { companyId } = admin;
    await sealAll(companyId);
    const next = await createTokens(await generateKeys());
    const verdict = () => verifyCompany({ db: database.forCompany(companyId).db, tokens: next, companyId }, {});
    expect((await verdict()).problem?.kind).toBe('unknown key');
    await admin.post('/api/projects/', { name: 'Sealed by the next key' });
    await sealBy(next, companyId);
    const proved = await verdict();
    expect(proved).toMatchObject({ isIntact: true });
    expect(proved.erasedRows).toBeGreaterThan(0);
  });

  test('needs the seal, once its key is gone', async () => {
    const { admin, employeeId } = await eraseOne();
    const { companyId } = admin;
    await sealAll(companyId);
    const next = await createTokens(await generateKeys());
    const old = await createTokens(await generateKeys());
    const rows = await db.selectFrom('audit_log').where('company_id', '=', companyId).selectAll().execute();
    const row = rows.find(({ operation }) => operation === 'registration.registerCompany')!;
    const statement = await old.statements.sign('audit-erasure', { company: companyId, rows: [[row.audit_id, 'any']] });
    await db.insertInto('audit_erasures').values({ company_id: companyId, statement }).execute();
    await tamper(sql`
      update audit_log set changes = '[]' where company_id = ${companyId} and audit_id = ${row.audit_id}`);
    await admin.patch(`/api/employees/${admin.employeeId}/`, { phone: String(employeeId) });
    await sealBy(next, companyId);
    const verdict = await verifyCompany({ db: database.forCompany(companyId).db, tokens: next, companyId }, {});
    expect(verdict.problem).toMatchObject({ kind: 'row changed', rowId: row.audit_id });
  });

  test('is refused any change by the database', async () => {
    await eraseOne();
    await expect(sql`delete from audit_erasures`.execute(db)).rejects.toThrow('only ever added to');
    await expect(sql`update audit_erasures set statement = ''`.execute(db)).rejects.toThrow('only ever added to');
    await expect(sql`truncate audit_erasures`.execute(db)).rejects.toThrow('only ever added to');
  });
});
