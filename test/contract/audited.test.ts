import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { operationsOf, type Operation } from '../../server/kernel/operations.ts';
import { appRouter } from '../../server/router.ts';
import type { Answer, Caller } from '../support/actor.ts';
import { keepRows } from '../support/kept-rows.ts';
import { subscribe } from '../support/plan.ts';
import { password, startService } from '../support/service.ts';
import { callOperation, exampleWith } from '../support/smoke-calls.ts';
import { makeThings } from '../support/things.ts';

/* Every mutation has one row in the audit log, or says why it has none; and no row has a secret. */

const service = await startService();
const { database, anonymous } = service;
const mutations = operationsOf(appRouter).filter(({ type }) => type === 'mutation');

const admin = await service.signIn((await service.registerCompany()).email);
await subscribe(service, admin, 'enterprise');
const things = await makeThings(service, admin, await service.addEmployee(admin));
await service.drain();
const restore = await keepRows(database.db);

const ofOneself = 'changes only what its caller sees of their own notifications';
const beforeSignIn =
  'sends a mail, and whether the address has an account is not known yet; the sign-in that follows is audited';

/** The table of what is not audited, and why; docs/audit.md has it too. */
const silent: Record<string, string> = {
  'auth.refresh': 'goes on with a session whose beginning is audited; a stolen token is a refusal, and audited',
  'auth.verifyEmail': beforeSignIn,
  'notifications.clear': ofOneself,
  'notifications.delete': ofOneself,
  'notifications.read': ofOneself,
  'notifications.readAll': ofOneself,
  'notifications.update': ofOneself,
  'passwords.requestReset': beforeSignIn,
  'registration.requestCode': beforeSignIn,
};

test('every mutation is audited, or says why not, here and in docs/audit.md', async () => {
  const declared = mutations.flatMap(({ name, meta }) =>
    meta.notAudited === undefined ? [] : [[name, meta.notAudited]],
  );
  expect(Object.fromEntries(declared)).toEqual(silent);
  const page = await readFile(new URL('../../docs/audit.md', import.meta.url), 'utf8');
  const table = [...page.matchAll(/^\| (`.*`) \| (.*) \|$/gm)].flatMap(([, names, why]) =>
    [...names!.matchAll(/`(\w+\.\w+)`/g)].map(([, name]) => [name, why]),
  );
  expect(Object.fromEntries(table)).toEqual(silent);
});

const anyId = expect.any(Number) as number;
let requests = 0;
const { access_token, refresh_token } = admin.pair;
const secrets = new Set<string>([password, 'not the right one', access_token, refresh_token]);

/** Remembers what an answer holds that nobody else may see. */
function noteSecrets({ body }: Answer): void {
  for (const field of ['access_token', 'refresh_token', 'login_ticket', 'key', 'secret'])
    if (typeof body?.[field] === 'string') secrets.add(body[field]);
}

/** Remembers what of secrets is stored, which is undone for the next operation. */
async function noteHashes(): Promise<void> {
  const { rows } = await sql<{ hash: string }>`
    select password_hash as hash from accounts where password_hash is not null
    union select key_hash from api_keys union select code_hash from oauth_grants union select token_hash from one_time_tokens`.execute(
    database.db,
  );
  for (const { hash } of rows) secrets.add(hash);
}

async function callAudited(caller: Pick<Caller, 'send'>, operation: Operation, input: Record<string, unknown>) {
  const requestId = `audited-${(requests += 1)}`;
  const send: Caller['send'] = (method, path, body, options) =>
    caller.send(method, path, body, { headers: { ...options?.headers, 'x-request-id': requestId } });
  const answer = await callOperation({ send }, operation, input);
  noteSecrets(answer);
  await noteHashes();
  const { rows } = await sql<{ operation: string; result: string; company_id: number }>`
    select operation, result, company_id from audit_log where request_id = ${requestId}`.execute(database.db);
  return { answer, rows };
}

/** What an example cannot know of the day, the database and the person. */
const fitting: Record<string, Record<string, unknown>> = {
  'employees.create': { email: 'fitting@example.com' },
  'apiKeys.create': { expiresAt: null },
  'passwords.change': { current_password: password },
  'comments.create': { mentionedEmails: [] },
};

/** Those that end a timer. */
const ending = new Set(['timers.stop', 'timers.discard']);

describe('every mutation of a caller who is signed in', () => {
  test.each(mutations.filter(({ meta }) => meta.access !== 'open').map((one) => [one.name, one] as const))(
    '%s has as many rows as it should',
    async (name, operation) => {
      await restore();
      if (ending.has(name)) await admin.post('/api/tasklogs/timer/start/', { taskId: things.task });
      const input = exampleWith(operation, (kind) => things[kind], fitting[name]);
      const { answer, rows } = await callAudited(admin, operation, input);
      expect(answer.status).toBe(200);
      const row = { operation: name, result: 'done', company_id: anyId };
      expect(rows).toEqual(operation.meta.notAudited === undefined ? [row] : []);
    },
  );
});

describe('every mutation of a stranger', () => {
  const operationOf = (name: string): Operation => mutations.find((one) => one.name === name)!;
  const email = 'stranger@example.com';

  /** Asks for a code, and answers the one that was sent. */
  async function takeCode(path: string): Promise<string> {
    await anonymous.post(path, { email });
    await service.drain();
    const code = service.mailbox.lastCode(email);
    secrets.add(code);
    return code;
  }

  async function expectOneRow(name: string, input: Record<string, unknown>, caller: Pick<Caller, 'send'> = anonymous) {
    const { answer, rows } = await callAudited(caller, operationOf(name), input);
    expect(answer.status).toBe(200);
    expect(rows).toEqual([{ operation: name, result: 'done', company_id: anyId }]);
    return { body: answer.body, companyId: rows[0]!.company_id };
  }

  test('has one row in the company in which a session begins', async () => {
    const otp = await takeCode('/get-register-otp/');
    const names = { company_name: 'Strange engines', first_name: 'Ada', last_name: 'Lovelace' };
    const { body, companyId } = await expectOneRow('registration.registerCompany', { email, otp, ...names });
    expect(companyId).toBe(body.company.company_id);
    const code = await takeCode('/verify-email/');
    expect((await expectOneRow('auth.otpLogin', { email, otp: code })).companyId).toBe(companyId);
    const signedIn = service.as(body);
    expect((await expectOneRow('auth.tokenLogin', { email, company_id: companyId }, signedIn)).companyId).toBe(
      companyId,
    );
  });

  test('has one row in the company of an account that resets its password', async () => {
    await anonymous.post('/reset/link/', { email });
    await service.drain();
    const link = /token=([\w-]+)/.exec(service.mailbox.to(email).at(-1)!.text)![1]!;
    secrets.add(link);
    const passwords = { new_password: 'a battery of correct horses', confirm_password: 'a battery of correct horses' };
    secrets.add(passwords.new_password);
    const { companyId } = await expectOneRow('passwords.reset', { token: link, ...passwords });
    const login = await expectOneRow('auth.login', { email, password: passwords.new_password });
    expect(companyId).toBe(login.body.company.company_id);
  });
});

test('no row has a password, a token, a code or a key', async () => {
  await anonymous.post('/login/', { email: admin.email, password: 'not the right one' });
  await service.app.services.audit.refusals.flush();
  const { rows } = await sql<{
    row: string;
  }>`select (to_jsonb(a) - 'at' - 'request_id')::text as row from audit_log as a`.execute(database.db);
  expect(rows.length).toBeGreaterThan(60);
  const all = rows.map(({ row }) => row).join('\n');
  expect([...secrets].filter((secret) => all.includes(secret))).toEqual([]);
});
