import { createTRPCClient, httpLink } from '@trpc/client';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { AppRouter } from '../../server/router.ts';
import { refusal, type Actor } from '../support/actor.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { stranger, mailbox, database, clock } = service;
const admin = await service.registerCompany();
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

async function projectsOf(actor: Actor): Promise<string[]> {
  const { body } = await actor.get(`/api/projects/company/${actor.companyId}/`);
  return body.results.map(({ name }: { name: string }) => name);
}

/** The actor over tRPC, with a key on each call. */
function trpcOf(actor: Actor, key: string) {
  const headers = {
    authorization: `Bearer ${actor.pair.access_token}`,
    'x-refresh-token': actor.pair.refresh_token,
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

  test('is honoured over tRPC, and between the doors', async () => {
    const over = trpcOf(admin, 'by-any-door');
    const first = await over.projects.create.mutate({ name: 'By any door' });
    expect(await over.projects.create.mutate({ name: 'By any door' })).toEqual(first);
    const rest = await admin.post('/api/projects/', { name: 'By any door' }, keyed('by-any-door'));
    expect([rest.headers.get('idempotency-replayed'), rest.body]).toEqual(['true', first]);
    await expect(over.projects.create.mutate({ name: 'Another' })).rejects.toMatchObject({
      data: { code: 'IDEMPOTENCY_KEY_REUSED', httpStatus: 422 },
    });
    expect((await projectsOf(admin)).filter((name) => name === 'By any door')).toHaveLength(1);
  });

  test('with another body is refused and does nothing', async () => {
    await admin.post('/api/projects/', { name: 'First' }, keyed('reused'));
    expect(refusal(await admin.post('/api/projects/', { name: 'Second' }, keyed('reused')))).toEqual({
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
    expect(refusal(await admin.delete(`/api/projects/${ids[1]}/`, undefined, keyed('delete')))).toMatchObject({
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
    await stranger.get('/healthz');
    await held.rollback();
    const answers = await Promise.all(racing);
    expect((await projectsOf(admin)).filter((name) => name === 'Raced')).toHaveLength(1);
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ body }) => body._id)).size).toBe(1);
    const waiting = answers.filter(({ status }) => status !== 200);
    expect(waiting.length).toBeGreaterThan(0);
    for (const answer of waiting) {
      expect(refusal(answer)).toEqual({ status: 409, code: 'IDEMPOTENCY_KEY_IN_USE' });
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

  test('shows no one a login that was answered to another proof', async () => {
    const claim = { email: admin.email, company_id: admin.companyId };
    const proof = { authorization: `Bearer ${admin.pair.access_token}`, 'x-refresh-token': admin.pair.refresh_token };
    const login = (headers: Record<string, string>) =>
      stranger.post('/token-login/', claim, { headers: { ...headers, ...keyed('1').headers } });
    const first = await login(proof);
    expect(first.status).toBe(200);
    expect((await login(proof)).body).toEqual(first.body);
    expect(refusal(await login({}))).toEqual({ status: 401, code: 'PROOF_REQUIRED' });
    expect(refusal(await login({ authorization: 'Bearer wlt_guessed' })).status).toBe(401);
    expect((await login({ ...proof, 'x-refresh-token': 'wrong' })).status).toBe(401);
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

describe('a kept answer', () => {
  test('cannot be read from the database, by its tokens or by anything else in it', async () => {
    const email = 'sealed@example.com';
    await stranger.post('/get-register-otp/', { email });
    await service.drain();
    const company = { company_name: 'Sealed Engines', email, first_name: 'Ada', last_name: 'Lovelace' };
    const { body } = await stranger.post(
      '/api/create-company-and-employee/',
      { ...company, otp: mailbox.lastCode(email) },
      keyed('secret-key'),
    );
    const rows = await database.db.selectFrom('idempotent_answers').selectAll().execute();
    expect(rows.map(({ operation }) => operation)).toContain('registration.registerCompany');
    const stored = rows
      .map((row) => `${JSON.stringify({ ...row, sealed_answer: null })} ${row.sealed_answer.toString('latin1')}`)
      .join('\n');
    for (const secret of [body.access_token, body.refresh_token, email, 'Sealed Engines', 'secret-key', 'access_token'])
      expect(stored).not.toContain(secret);
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
