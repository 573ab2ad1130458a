import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { createTRPCClient, httpLink } from '@trpc/client';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { AppRouter } from '../../server/router.ts';
import { type Actor, type Answer, errorOf, headersOf } from '../support/actor.ts';
import { createTokens } from '../../server/platform/tokens.ts';
import { keys, password, startService } from '../support/service.ts';

const service = await startService();
const { anonymous, mailbox, database, clock } = service;
const admin = await service.registerCompany();
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

async function projectsOf(actor: Actor): Promise<string[]> {
  const { body } = await actor.get(`/api/projects/company/${actor.companyId}/`);
  return body.results.map(({ name }: { name: string }) => name);
}

/** The actor over tRPC, with a key on each call. */
function trpcOf(actor: Actor, key: string) {
  const headers = {
    ...headersOf(actor.pair),
    'idempotency-key': key,
  };
  return createTRPCClient<AppRouter>({ links: [httpLink({ url: `${service.url}/trpc`, headers })] });
}

describe('the same Idempotency-Key', () => {
  test('with the same body gets the first answer again, and nothing happens twice', async () => {
    const employee = {
      first_name: 'Grace',
      last_name: 'Hopper',
      email: 'once@example.com',
      companyId: admin.companyId,
    };
    const first = await admin.post('/employee/add/', employee, keyed('add-grace'));
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([200, null]);
    for (let retry = 0; retry < 3; retry += 1) {
      const again = await admin.post('/employee/add', employee, keyed('add-grace'));
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
      expect(again.body).toEqual(first.body);
    }
    await service.drain();
    expect(mailbox.to('once@example.com')).toHaveLength(1);
  });

  test('is honoured over tRPC, and between the transports', async () => {
    const over = trpcOf(admin, 'over-any-transport');
    const first = await over.projects.create.mutate({ name: 'Over any transport' });
    expect(await over.projects.create.mutate({ name: 'Over any transport' })).toEqual(first);
    const rest = await admin.post('/api/projects/', { name: 'Over any transport' }, keyed('over-any-transport'));
    expect([rest.headers.get('idempotency-replayed'), rest.body]).toEqual(['true', first]);
    await expect(over.projects.create.mutate({ name: 'Another' })).rejects.toMatchObject({
      data: { code: 'IDEMPOTENCY_KEY_REUSED', httpStatus: 422 },
    });
    expect((await projectsOf(admin)).filter((name) => name === 'Over any transport')).toHaveLength(1);
  });

  test('with another body is refused and does nothing', async () => {
    await admin.post('/api/projects/', { name: 'First' }, keyed('reused'));
    expect(errorOf(await admin.post('/api/projects/', { name: 'Second' }, keyed('reused')))).toEqual({
      status: 422,
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    expect(await projectsOf(admin)).not.toContain('Second');
  });

  test('on another path parameter is another body', async () => {
    const ids = await Promise.all(
      ['One', 'Two'].map(async (name) => (await admin.post('/api/projects/', { name })).body._id as number),
    );
    expect((await admin.delete(`/api/projects/${ids[0]}/`, undefined, keyed('delete'))).status).toBe(200);
    expect(errorOf(await admin.delete(`/api/projects/${ids[1]}/`, undefined, keyed('delete')))).toMatchObject({
      status: 422,
    });
    expect((await admin.get(`/api/projects/${ids[1]}/`)).status).toBe(200);
  });

  test('on another operation is another key', async () => {
    const project = await admin.post('/api/projects/', { name: 'Shared key' }, keyed('shared'));
    const task = await admin.post('/api/tasks/', { projectId: project.body._id, title: 'Shared key' }, keyed('shared'));
    expect([task.status, task.headers.get('idempotency-replayed')]).toEqual([200, null]);
  });

  test('of twenty requests at once has one effect; the others get its answer or are told to wait', async () => {
    const held = database.begin();
    await sql`lock table projects in access exclusive mode`.execute(held.db);
    const racing = Array.from({ length: 20 }, () => admin.post('/api/projects/', { name: 'Raced' }, keyed('raced')));
    // What is sent after them is answered when they have begun.
    await anonymous.get('/healthz');
    await held.rollback();
    const answers = await Promise.all(racing);
    expect((await projectsOf(admin)).filter((name) => name === 'Raced')).toHaveLength(1);
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ body }) => body._id)).size).toBe(1);
    const waiting = answers.filter(({ status }) => status !== 200);
    expect(waiting.length).toBeGreaterThan(0);
    for (const answer of waiting) {
      expect(errorOf(answer)).toEqual({ status: 409, code: 'IDEMPOTENCY_KEY_IN_USE' });
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    const later = await admin.post('/api/projects/', { name: 'Raced' }, keyed('raced'));
    expect([later.status, later.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  });

  test('of another caller is another key', async () => {
    const colleague = await service.addEmployee(admin);
    const neighbour = await service.registerCompany({ name: 'Compilers' });
    const mine = await admin.post('/api/projects/', { name: 'Everybody’s' }, keyed('everybodys'));
    for (const other of [colleague, neighbour]) {
      const theirs = await other.post('/api/projects/', { name: 'Everybody’s' }, keyed('everybodys'));
      expect([theirs.status, theirs.headers.get('idempotency-replayed')]).toEqual([200, null]);
      expect(theirs.body._id).not.toBe(mine.body._id);
    }
  });

  test('of another session or API key of the same person is another key', async () => {
    const first = await admin.post('/api/projects/', { name: 'Once a session' }, keyed('session'));
    const again = await admin.post('/api/projects/', { name: 'Once a session' }, keyed('session'));
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const session = await service.signIn(admin.email);
    const { body: apiKey } = await session.post('/api/api-keys/', { name: 'Import', scopes: ['read', 'write'] });
    const bearer = { authorization: `Bearer ${apiKey.key}`, ...keyed('session').headers };
    const others = [
      await session.post('/api/projects/', { name: 'Once a session' }, keyed('session')),
      await anonymous.post('/api/projects/', { name: 'Once a session' }, { headers: bearer }),
    ];
    for (const other of others) {
      expect([other.status, other.headers.get('idempotency-replayed')]).toEqual([200, null]);
      expect(other.body._id).not.toBe(first.body._id);
    }
  });

  test('outlives a refresh of its session', async () => {
    const session = await service.signIn(admin.email);
    const first = await session.post('/api/projects/', { name: 'Refreshed' }, keyed('refreshed'));
    const { body: pair } = await anonymous.post('/api/token/refresh/', { refresh_token: session.pair.refresh_token });
    const again = await service.as(pair).post('/api/projects/', { name: 'Refreshed' }, keyed('refreshed'));
    expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', first.body]);
  });

  test('with the same fields in another order, or spelled otherwise in JSON, is the same body', async () => {
    const ordered = await admin.post('/api/projects/', '{"name": "Ordered", "allocatedHours": 12}', keyed('order'));
    expect(ordered.status).toBe(200);
    const again = await admin.post('/api/projects/', '{"allocatedHours":12.0,"name":"\\u004frdered"}', keyed('order'));
    expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', ordered.body]);
    // The order of a list means something.
    const bodies = [{ notification_ids: [1, 2] }, { notification_ids: [2, 1] }];
    expect((await admin.delete('/notifications/delete/', bodies[0], keyed('list'))).status).toBe(200);
    expect(errorOf(await admin.delete('/notifications/delete/', bodies[1], keyed('list'))).status).toBe(422);
  });

  test('keeps no refusal: the mended request is served', async () => {
    expect((await admin.post('/api/projects/', { name: '' }, keyed('mended'))).status).toBe(400);
    const mended = await admin.post('/api/projects/', { name: 'Mended' }, keyed('mended'));
    expect([mended.status, mended.headers.get('idempotency-replayed')]).toEqual([200, null]);

    const employee = { first_name: 'Alan', last_name: 'T', email: admin.email, companyId: admin.companyId };
    expect((await admin.post('/employee/add/', employee, keyed('taken'))).status).toBe(409);
    const added = await admin.post('/employee/add/', { ...employee, email: 'alan@example.com' }, keyed('taken'));
    expect(added.status).toBe(200);
  });

  test('does nothing to a read', async () => {
    const path = `/api/projects/company/${admin.companyId}/`;
    const before = await admin.get(path, keyed('read'));
    await admin.post('/api/projects/', { name: 'Between two reads' });
    const after = await admin.get(path, keyed('read'));
    expect(after.body.total).toBe(before.body.total + 1);
    expect(after.headers.get('idempotency-replayed')).toBeNull();
  });
});

describe('an answer that holds a secret', () => {
  const secrets: [string, string, (options: object) => Promise<Answer>][] = [
    ['a sign-in', '/login/', (options) => anonymous.post('/login/', { email: admin.email, password }, options)],
    [
      'an API key',
      '/api/api-keys/',
      (options) => admin.post('/api/api-keys/', { name: 'Import', scopes: ['read'] }, options),
    ],
  ];

  test.each(secrets)('is made again for %s, and stored nowhere', async (_what, path, send) => {
    await service.signIn(admin.email);
    const [first, second] = [await send(keyed('secret')), await send(keyed('secret'))];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers.get('idempotency-replayed')).toBeNull();
    expect(second.body).not.toEqual(first.body);
    const { body: document } = await anonymous.get('/openapi.json');
    const { post } = document.paths[path];
    expect(JSON.stringify(post)).not.toContain('Idempotency');
  });

  test('is none of those that the database keeps', async () => {
    const email = 'kept@example.com';
    await anonymous.post('/verify-email/', { email: admin.email }, keyed('secret'));
    await anonymous.post('/get-register-otp/', { email }, keyed('secret'));
    await service.drain();
    const company = { company_name: 'Sealed Engines', email, first_name: 'Ada', last_name: 'Lovelace' };
    const registered = { ...company, otp: mailbox.lastCode(email) };
    const { body } = await anonymous.post('/api/create-company-and-employee/', registered, keyed('secret'));
    await anonymous.post('/api/token/refresh/', { refresh_token: body.refresh_token }, keyed('secret'));
    const otp = mailbox.lastCode(admin.email);
    expect((await anonymous.post('/otp-login/', { email: admin.email, otp }, keyed('secret'))).status).toBe(200);
    // The code is used up: nobody gets its session a second time.
    const again = await anonymous.post('/otp-login/', { email: admin.email, otp }, keyed('secret'));
    expect(errorOf(again)).toEqual({ status: 401, code: 'INVALID_OTP' });

    const rows = await database.db.selectFrom('idempotent_answers').select('operation').distinct().execute();
    const kept = rows
      .map(({ operation }) => operation)
      .filter((name) => /^(auth|registration|apiKeys|passwords)/.test(name));
    expect(kept).toEqual([]);
  });
});

describe('a body that nests deeply', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

  test.each([{}, keyed('deep')])('is refused, with %j', async (options) => {
    const body = `{"name": "Deep", "more": ${deep(50_000)}}`;
    const answers = [
      await admin.post('/api/projects/', body, options),
      await admin.post('/tasklogs/bulk/create/1/', deep(50_000), options),
      await anonymous.post('/login/', body, options),
    ];
    for (const answer of answers) {
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: [''] });
      expect(answer.body.issues[0].code).toBe('too_deep');
    }
    const overTrpc = await admin.post('/trpc/projects.create', body, options);
    expect([overTrpc.status, overTrpc.body.error.data.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(await projectsOf(admin)).not.toContain('Deep');
  });

  test('is taken up to 64 levels', async () => {
    const send = (levels: number) => admin.post('/api/projects/', `{"name": "Deep enough", "more": ${deep(levels)}}`);
    expect((await send(63)).status).toBe(200);
    expect((await send(64)).status).toBe(400);
  });
});

describe('a kept answer', () => {
  test('cannot be read from the database, by anything in it or in what was sent', async () => {
    const { body } = await admin.post('/api/projects/', { name: 'Sealed Engines' }, keyed('secret-key'));
    const change = {
      current_password: password,
      new_password: 'another long one',
      confirm_password: 'another long one',
    };
    const person = await service.addEmployee(admin);
    const changed = await person.put(`/employee/password/${person.employeeId}/`, change, keyed('secret-key'));
    expect(changed.status).toBe(200);
    const rows = await database.db.selectFrom('idempotent_answers').selectAll().execute();
    expect(rows.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(['projects.create', 'passwords.change']),
    );
    const stored = rows
      .map((row) => `${JSON.stringify({ ...row, sealed_answer: null })} ${row.sealed_answer.toString('latin1')}`)
      .join('\n');
    for (const secret of ['Sealed Engines', 'secret-key', body.createdAt, password, change.new_password])
      expect(stored).not.toContain(secret);
    // Neither does its hash tell what was sent to somebody who tries.
    const guess = `secret-key\0${JSON.stringify({ ...change, employee_id: person.employeeId })}`;
    expect(stored).not.toContain(createHash('sha256').update(guess).digest('base64url'));
  });

  test('of the version before is read as well: a request may be repeated across an upgrade', async () => {
    const send = () => admin.post('/api/projects/', { name: 'Across' }, keyed('across-an-upgrade'));
    const first = await send();
    const { sid } = JSON.parse(String(Buffer.from(admin.pair.access_token.split('.')[1]!, 'base64url'))) as {
      sid: number;
    };
    const [key] = (await createTokens(await keys)).deriveKeys('idempotent answer', `session ${sid}\0across-an-upgrade`);
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const text = Buffer.concat([cipher.update(JSON.stringify(first.body)), cipher.final()]);
    const newest = database.db
      .selectFrom('idempotent_answers')
      .select('key_hash')
      .orderBy('created_at', 'desc')
      .limit(1);
    await database.db
      .updateTable('idempotent_answers')
      .set({ sealed_answer: Buffer.concat([nonce, cipher.getAuthTag(), text]) })
      .where('key_hash', '=', newest)
      .execute();
    const again = await send();
    expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', first.body]);
  });

  test('is the answer for 24 hours, and then the request is a new one', async () => {
    const send = () => admin.post('/api/projects/', { name: 'Daily' }, keyed('daily'));
    const first = await send();
    clock.advance({ hours: 23, minutes: 59 });
    expect((await send()).body).toEqual(first.body);
    clock.advance({ minutes: 2 });
    const next = await send();
    expect([next.status, next.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(next.body._id).not.toBe(first.body._id);
    expect((await send()).body).toEqual(next.body);
  });
});
