import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { errorOf } from '../../support/actor.ts';
import { exportFile, fetchFile, readZip } from '../../support/export-file.ts';
import { startService } from '../../support/service.ts';
import { makeThings } from '../../support/things.ts';

const service = await startService();
const founder = await service.registerCompany({ name: 'Analytical Engines' });
const admin = await service.addEmployee(founder, { isAdmin: true });
const colleague = await service.addEmployee(admin, { salary: 4_711_000 });
const neighbourFounder = await service.registerCompany({ name: 'Difference Engines' });
const neighbour = await service.addEmployee(neighbourFounder, { isAdmin: true });
const neighbours = await service.addEmployee(neighbour);
await makeThings(service, admin, colleague);
await makeThings(service, neighbour, neighbours);
await admin.delete(
  `/api/exports/${(await admin.get(`/api/exports/company/${admin.companyId}/`)).body.exports[0]._id}/`,
);

const lines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

test('is made in the background, and its file is at a signed address for a day', async () => {
  const { body: asked } = await admin.post('/api/exports/', {});
  expect(asked).toMatchObject({ state: 'waiting', userId: null, url: null, bytes: null, finishedAt: null });
  expect(errorOf(await admin.post('/api/exports/', {}))).toEqual({ status: 409, code: 'EXPORT_IN_PROGRESS' });
  await service.drain();
  const { body } = await admin.get(`/api/exports/${asked._id}/`);
  expect(body).toMatchObject({ state: 'finished', requestedById: admin.employeeId, rowsDone: body.rowsTotal });
  expect(body.rowsTotal).toBeGreaterThan(20);

  const file = await fetchFile(service, body);
  const bytes = Buffer.from(await file.arrayBuffer());
  expect(Object.fromEntries(file.headers)).toMatchObject({
    'content-type': 'application/zip',
    'content-length': String(body.bytes),
    'content-disposition': expect.stringMatching(/^attachment; filename="export-company-\d+-[\d-]+\.zip"$/),
    'cache-control': 'private, no-store',
  });
  expect(bytes.length).toBe(body.bytes);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(body.sha256);
  expect((await fetchFile(service, body, { method: 'HEAD' })).status).toBe(200);
  // It is a row of the audit log, as asking for it is; asking for its headers is none.
  const { body: log } = await admin.get(`/api/audit/company/${admin.companyId}/?subject=export:${asked._id}`);
  const operations = log.results.map(({ operation }: { operation: string }) => operation);
  expect(operations).toEqual(['exports.take', 'exports.create']);
  expect(service.log()).not.toContain(body.url.split('/').at(-1));

  service.clock.advance({ hours: 24, minutes: 1 });
  expect((await fetchFile(service, body)).status).toBe(404);
  expect(errorOf(await admin.get(`/api/exports/${asked._id}/`))).toEqual({ status: 404, code: 'NOT_FOUND' });
  await service.app.sweep.run();
  const left = await service.database.db.selectFrom('export_parts').select('part').execute();
  expect(left).toEqual([]);
});

test('has what the company has, and nothing of another or secret', async () => {
  const { database } = service;
  const secrets = await Promise.all([
    database.db.selectFrom('accounts').select(['password_hash as secret']).execute(),
    database.db.selectFrom('api_keys').select(['key_hash as secret']).execute(),
    database.db.selectFrom('invitations').select(['token_hash as secret']).execute(),
  ]);
  const files = await readZip(await exportFile(service, admin));
  const manifest = JSON.parse(files.get('manifest.json')!);
  expect(manifest).toMatchObject({
    format: 'work-management-export',
    version: 1,
    company: { id: admin.companyId, name: 'Analytical Engines' },
    employee: null,
  });
  for (const { name, columns, rows, sha256 } of manifest.tables) {
    const text = files.get(`${name}.jsonl`)!;
    expect(createHash('sha256').update(text).digest('hex')).toBe(sha256);
    expect(lines(text)).toHaveLength(rows);
    for (const line of lines(text)) expect(Object.keys(line)).toEqual(columns);
  }
  const all = [...files.values()].join('\n');
  expect(all).toContain(colleague.email);
  expect(lines(files.get('employees.jsonl')!).find(({ email }) => email === colleague.email)).toMatchObject({
    salary: 4_711_000,
    employee_id: colleague.employeeId,
  });
  for (const foreign of ['Difference Engines', neighbour.email, neighbours.email]) expect(all).not.toContain(foreign);
  expect(secrets.flat().filter(({ secret }) => secret !== null && all.includes(secret))).toEqual([]);
  expect(all).not.toMatch(/password_hash|key_hash|token_hash|sealed|account_id/);
});

test('of a person has what concerns them', async () => {
  const { body: comment } = await admin.post('/api/task-chats/', {
    taskId: (await admin.get(`/api/tasks/company/${admin.companyId}/`)).body.results[0]._id,
    sender: admin.employeeId,
    message: 'From the admin alone',
  });
  expect(comment.message).toContain('From the admin alone');
  const files = await readZip(await exportFile(service, admin, colleague.employeeId));
  expect(JSON.parse(files.get('manifest.json')!)).toMatchObject({ employee: colleague.employeeId });
  const all = [...files.values()].join('\n');
  expect(lines(files.get('employees.jsonl')!)).toEqual([expect.objectContaining({ email: colleague.email })]);
  expect(lines(files.get('comments.jsonl')!)).toEqual([expect.objectContaining({ sender_id: colleague.employeeId })]);
  expect(lines(files.get('sessions.jsonl')!).length).toBeGreaterThan(0);
  expect(files.has('rates.jsonl')).toBe(true);
  expect(files.has('subscriptions.jsonl')).toBe(false);
  expect(all).not.toContain('From the admin alone');
  expect(all).not.toMatch(/password_hash|key_hash|token_hash|key_start|refresh_generation/);
});

test('is for admins, of their own company', async () => {
  expect(errorOf(await colleague.post('/api/exports/', {}))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
  const foreign = await admin.post('/api/exports/', { userId: neighbours.employeeId });
  expect(errorOf(foreign)).toMatchObject({ status: 400, issues: ['userId'] });
  const { body: asked } = await admin.post('/api/exports/', {});
  await service.drain();
  const { body } = await admin.get(`/api/exports/${asked._id}/`);
  const path = `/api/exports/${asked._id}/`;
  expect(errorOf(await neighbour.get(path))).toEqual({ status: 404, code: 'NOT_FOUND' });
  expect(errorOf(await neighbour.delete(path))).toEqual({ status: 404, code: 'NOT_FOUND' });
  expect(errorOf(await neighbour.get(`/api/exports/company/${admin.companyId}/`))).toMatchObject({ status: 404 });
  expect(errorOf(await colleague.get(path))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });

  // Signed for this company, this export and this time.
  const others = [
    body.url.replace(/exports\/\d+/, `exports/${neighbour.companyId}`),
    body.url.replace(/exports\/(\d+)-\d+/, `exports/$1-${asked._id + 1}`),
    body.url.replace(/(\d{13})-/, (_: string, until: string) => `${Number(until) + 1}-`),
    `${body.url}x`,
  ];
  for (const url of others) expect([url, (await fetchFile(service, { url })).status]).toEqual([url, 404]);
  expect((await fetchFile(service, body)).status).toBe(200);
  await admin.delete(path);
  expect((await fetchFile(service, body)).status).toBe(404);
});

test('that is deleted while its file is read is cut off, and never looks whole', async () => {
  const { body: asked } = await admin.post('/api/exports/', {});
  await service.drain();
  const { body } = await admin.get(`/api/exports/${asked._id}/`);
  // Far more bytes than lie between the two sides.
  const { db } = service.database.forCompany(admin.companyId);
  await sql`
    insert into export_parts (company_id, export_id, run, part, content)
    select p.company_id, p.export_id, p.run, n, decode(repeat('00', 1024 * 1024), 'hex')
    from export_parts as p, generate_series(1, 40) as n where p.export_id = ${asked._id} and p.part = 0`.execute(db);
  await sql`update exports set byte_count = byte_count + 40 * 1024 * 1024 where export_id = ${asked._id}`.execute(db);
  const whole = await fetchFile(service, body);
  expect((await whole.arrayBuffer()).byteLength).toBe(body.bytes + 40 * 1024 * 1024);

  const file = await fetchFile(service, body, { signal: AbortSignal.timeout(10_000) });
  expect((await admin.delete(`/api/exports/${asked._id}/`)).status).toBe(200);
  await expect(file.arrayBuffer()).rejects.toMatchObject({ message: 'terminated' });
  expect(service.log()).toContain('an answer broke off');
});

test('that is deleted before its first part is read is not there', async () => {
  const { body: asked } = await admin.post('/api/exports/', {});
  await service.drain();
  const { body } = await admin.get(`/api/exports/${asked._id}/`);
  await service.database.forCompany(admin.companyId).db.deleteFrom('export_parts').execute();
  const file = await fetchFile(service, body, { signal: AbortSignal.timeout(10_000) });
  expect([file.status, await file.json()]).toEqual([404, expect.objectContaining({ code: 'NOT_FOUND' })]);
  await admin.delete(`/api/exports/${asked._id}/`);
});

test.each([
  ['is an admin no more', { isAdmin: false }],
  ['leaves', { is_active: false }],
])('its address ends where the admin who asked for it %s', async (_, change) => {
  const second = await service.addEmployee(admin, { isAdmin: true });
  const { body: asked } = await second.post('/api/exports/', {});
  await service.drain();
  const { body } = await second.get(`/api/exports/${asked._id}/`);
  expect((await fetchFile(service, body)).status).toBe(200);
  expect((await admin.patch(`/api/employees/${second.employeeId}/`, change)).status).toBe(200);
  expect((await fetchFile(service, body)).status).toBe(404);
  await admin.delete(`/api/exports/${asked._id}/`);
});

test('a key that only writes can ask for one, and never learns its address', async () => {
  const { body: made } = await admin.post('/api/api-keys/', { name: 'Writer', scopes: ['write'] });
  const call = (method: string, path: string) =>
    service.anonymous.send(method, path, method === 'POST' ? {} : undefined, {
      headers: { authorization: `Bearer ${made.key}` },
    });
  const { body: asked } = await call('POST', '/api/exports/');
  expect(asked).toMatchObject({ state: 'waiting', url: null });
  await service.drain();
  const refused = { status: 403, code: 'SCOPE_REQUIRED' };
  expect(errorOf(await call('GET', `/api/exports/${asked._id}/`))).toEqual(refused);
  expect(errorOf(await call('GET', `/api/exports/company/${admin.companyId}/`))).toEqual(refused);
  const { body: read } = await admin.post('/api/api-keys/', { name: 'Reader', scopes: ['read'] });
  const headers = { authorization: `Bearer ${read.key}` };
  expect(errorOf(await service.anonymous.post('/api/exports/', {}, { headers }))).toEqual(refused);
  // Of 64 who delete it at once one does.
  const answers = await Promise.all(Array.from({ length: 64 }, () => admin.delete(`/api/exports/${asked._id}/`)));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([200, ...Array.from({ length: 63 }, () => 404)]);
});

test('64 at once make one, and a company has five at most', async () => {
  const answers = await Promise.all(Array.from({ length: 64 }, () => admin.post('/api/exports/', {})));
  const made = answers.filter(({ status }) => status === 200);
  expect(made).toHaveLength(1);
  expect(new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.code))).toEqual(
    new Set(['EXPORT_IN_PROGRESS']),
  );
  await service.drain();
  for (let more = 0; more < 4; more += 1) {
    expect((await admin.post('/api/exports/', {})).status).toBe(200);
    await service.drain();
  }
  expect(errorOf(await admin.post('/api/exports/', {}))).toEqual({ status: 409, code: 'EXPORT_LIMIT_REACHED' });
  const { body } = await admin.get(`/api/exports/company/${admin.companyId}/`);
  expect(body.exports).toHaveLength(5);
  // Five readers at once get the same bytes.
  const files = await Promise.all(
    Array.from({ length: 5 }, async () => (await fetchFile(service, body.exports[0])).bytes()),
  );
  expect(new Set(files.map((bytes) => Buffer.from(bytes).toString('base64'))).size).toBe(1);
  for (const one of body.exports) await admin.delete(`/api/exports/${one._id}/`);
});

test('a run that was killed is begun again from the start, and nothing of it stays', async () => {
  const { db } = service.database;
  const { body: asked } = await admin.post('/api/exports/', {});
  const killed = { company_id: admin.companyId, export_id: asked._id, run: '0b7c4a30-a6f7-4f0b-9c4d-5e6f7a8b9c0d' };
  await db
    .insertInto('export_parts')
    .values({ ...killed, part: 0, content: Buffer.from('half of a file') })
    .execute();
  await db
    .updateTable('exports')
    .set({ started_at: service.clock.now(), rows_total: 100, rows_done: 40 })
    .where('export_id', '=', asked._id)
    .execute();
  expect((await admin.get(`/api/exports/${asked._id}/`)).body).toMatchObject({
    state: 'running',
    rowsDone: 40,
    url: null,
  });
  await service.drain();
  const { body } = await admin.get(`/api/exports/${asked._id}/`);
  expect(body).toMatchObject({ state: 'finished', rowsDone: body.rowsTotal });
  await readZip(Buffer.from(await (await fetchFile(service, body)).arrayBuffer()));
  const runs = await db.selectFrom('export_parts').select('run').distinct().execute();
  expect(runs).toHaveLength(1);
  expect(runs[0]!.run).not.toBe(killed.run);
  await admin.delete(`/api/exports/${asked._id}/`);
});

test('the erasure of a person deletes what was exported with them, finished or not', async () => {
  const leaving = await service.addEmployee(admin);
  const { body: asked } = await admin.post('/api/exports/', {});
  await service.drain();
  const { body } = await admin.get(`/api/exports/${asked._id}/`);
  await admin.post('/api/exports/', { userId: leaving.employeeId });
  expect((await admin.post(`/api/employees/${leaving.employeeId}/erase/`)).status).toBe(200);
  expect((await fetchFile(service, body)).status).toBe(404);
  expect((await admin.get(`/api/exports/company/${admin.companyId}/`)).body.exports).toEqual([]);
  await service.drain();
  expect(await service.database.db.selectFrom('export_parts').select('part').execute()).toEqual([]);
  expect(
    await service.database.db.selectFrom('jobs').where('handler', '=', 'make-export').select('job_id').execute(),
  ).toEqual([]);
});
