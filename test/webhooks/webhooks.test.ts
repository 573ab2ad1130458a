import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { changeEvents } from '../../server/features/change-events/catalogue.ts';
import { webhookEvents } from '../../server/features/webhooks/event-types.ts';
import { errorOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';

/* The operations on webhooks; test/webhooks/delivery.test.ts has what is sent to them. */

const service = await startService({
  settings: { webhookNetworks: ['10.7.0.0/16'] },
  resolveName: async (name) =>
    name === 'inside.example' ? ['10.0.0.1'] : name === 'nobody.example' ? [] : ['8.8.8.8'],
});
const { clock, database } = service;
const admin = await service.registerCompany();
const neighbour = await service.registerCompany();
const url = 'https://hooks.example.com/work?token=hidden';
const events = ['comment.created'];
const list = async (actor = admin) => (await actor.get(`/api/webhooks/company/${actor.companyId}/`)).body;

async function create(fields: object = {}, actor = admin) {
  const { status, body } = await actor.post('/api/webhooks/', { url, events, ...fields });
  expect([status, body.code]).toEqual([200, undefined]);
  return body;
}

test('shows the secret of a new webhook once', async () => {
  const { secret, ...webhook } = await create({ events: [...events, ...events], description: 'Our chat' });
  expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(webhook).toEqual({
    _id: expect.any(Number),
    companyId: admin.companyId,
    url,
    events,
    description: 'Our chat',
    isEnabled: true,
    disabledBecause: null,
    failingSince: null,
    previousSecretUntil: null,
    createdAt: expect.any(String),
    updatedAt: webhook.createdAt,
  });
  expect((await admin.get(`/api/webhooks/${webhook._id}/`)).body).toEqual(webhook);
  const listed = await list();
  expect(listed).toMatchObject({ webhooks: [webhook], publicKeys: [expect.stringMatching(/^whpk_[\w+/]{43}=$/)] });
  expect(JSON.stringify(listed)).not.toContain('whsec_');
});

test('keeps the secret and the URL out of the log, and the secret out of the database', async () => {
  const { secret } = await create();
  const { rows } = await database.db
    .selectFrom('webhooks')
    .selectAll()
    .execute()
    .then((found) => ({ rows: found }));
  const stored = JSON.stringify(rows.map((row) => ({ ...row, sealed_secret: row.sealed_secret.toString('latin1') })));
  for (const kept of [service.log(), stored]) expect(kept).not.toContain(secret.slice(6));
  expect(service.log()).not.toContain('token=hidden');
});

test('leaves what was changed in the audit log, without the secret and the URL beyond its origin', async () => {
  const owner = await service.registerCompany();
  const { _id: id } = await create({}, owner);
  await owner.patch(`/api/webhooks/${id}/`, {
    url: 'https://other.example.com/?token=hidden',
    events: ['task.created'],
  });
  await owner.post(`/api/webhooks/${id}/rotate-secret/`);
  await owner.delete(`/api/webhooks/${id}/`);
  const { rows } = await sql<{ changes: object[] }>`
    select changes from audit_log where company_id = ${owner.companyId} and subject_kind = 'webhook' order by audit_id`.execute(
    database.db,
  );
  const [origin, next] = ['https://hooks.example.com', 'https://other.example.com'];
  const about = { kind: 'webhook', id };
  const last = { origin: next, events: ['task.created'], description: null, isEnabled: true };
  expect(rows.flatMap(({ changes }) => changes)).toEqual([
    { ...about, event: 'webhook.created', before: null, after: { ...last, origin, events } },
    {
      ...about,
      event: 'webhook.updated',
      before: { origin, events },
      after: { origin: next, events: ['task.created'] },
    },
    { ...about, event: 'webhook.secret_rotated', before: null, after: null },
    { ...about, event: 'webhook.deleted', before: last, after: null },
  ]);
  expect(JSON.stringify(rows)).not.toContain('hidden');
});

describe('refuses', () => {
  test.each([
    ['ftp://hooks.example.com/', 'invalid_format'],
    ['hooks.example.com', 'invalid_format'],
    ['https://user:word@hooks.example.com/', 'invalid_format'],
    ['https://user@hooks.example.com/', 'invalid_format'],
    [`https://hooks.example.com/${'x'.repeat(2048)}`, 'too_big'],
    ['http://hooks.example.com/', 'invalid_value'],
    ['https://127.0.0.1/', 'invalid_value'],
    ['https://[::ffff:169.254.169.254]/', 'invalid_value'],
    ['https://inside.example/', 'invalid_value'],
  ])('the URL %s, of a new webhook and of one that changes', async (bad, code) => {
    const { _id: id } = await create();
    for (const answer of [
      await admin.post('/api/webhooks/', { url: bad, events }),
      await admin.patch(`/api/webhooks/${id}/`, { url: bad }),
    ]) {
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['url'] });
      expect(answer.body.issues[0].code).toBe(code);
      expect(JSON.stringify(answer.body)).not.toMatch(/10\.0\.0\.1|word/);
    }
    expect((await admin.get(`/api/webhooks/${id}/`)).body.url).toBe(url);
    await admin.delete(`/api/webhooks/${id}/`);
  });

  test('an event that is not offered, by its place', async () => {
    for (const event of ['comment.nothing', 'notification.created', 'comment.seen', '*']) {
      const answer = await admin.post('/api/webhooks/', { url, events: ['comment.created', event] });
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['events.1'] });
    }
    expect(errorOf(await admin.post('/api/webhooks/', { url, events: [] }))).toMatchObject({ issues: ['events'] });
  });
});

test('offers every change event but the first of a company', () => {
  const offered = new Set<string>(webhookEvents);
  const types = changeEvents.map(({ type }) => type);
  expect(types.filter((type) => !offered.has(type))).toEqual(['company.created']);
  const others = webhookEvents.filter((type) => !types.includes(type));
  expect(others.every((type) => type.startsWith('comment.'))).toBe(true);
});

test('takes a name that nobody knows yet, and an address of an allowed network by plain http', async () => {
  for (const accepted of ['https://nobody.example/', 'http://10.7.1.1:8080/hook']) {
    const webhook = await create({ url: accepted });
    expect(webhook.url).toBe(accepted);
    await admin.delete(`/api/webhooks/${webhook._id}/`);
  }
});

test('changes what is given and keeps the rest', async () => {
  const { secret: _, ...webhook } = await create({ description: 'before' });
  clock.advance({ seconds: 1 });
  const changes = { events: ['comment.deleted', 'comment.edited'], description: null, isEnabled: false };
  const { body } = await admin.patch(`/api/webhooks/${webhook._id}/`, changes);
  expect(body).toEqual({ ...webhook, ...changes, updatedAt: expect.any(String) });
  expect(body.updatedAt > webhook.updatedAt).toBe(true);
  expect((await admin.patch(`/api/webhooks/${webhook._id}/`, {})).body).toEqual(body);
  for (const operation of ['test/', 'recover/'])
    expect(
      errorOf(await admin.post(`/api/webhooks/${webhook._id}/${operation}`, { since: '2026-03-01T00:00:00Z' })),
    ).toEqual({ status: 409, code: 'WEBHOOK_DISABLED' });
});

test('a company has twenty webhooks, however many are made at once', { timeout: 60_000 }, async () => {
  const owner = await service.registerCompany();
  const answers = await Promise.all(Array.from({ length: 64 }, () => owner.post('/api/webhooks/', { url, events })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
  const refused = answers.filter(({ status }) => status !== 200).map(errorOf);
  expect(new Set(refused.map((one) => JSON.stringify(one)))).toEqual(
    new Set([JSON.stringify({ status: 409, code: 'WEBHOOK_LIMIT_REACHED' })]),
  );
  const { webhooks } = await list(owner);
  expect(webhooks).toHaveLength(20);
  await owner.delete(`/api/webhooks/${webhooks[0]._id}/`);
  await create({}, owner);
});

test('is for admins of its company', async () => {
  const { _id: id } = await create();
  const { _id: delivery } = (await admin.post(`/api/webhooks/${id}/test/`)).body;
  const employee = await service.addEmployee(admin);
  const since = { since: '2026-03-01T00:00:00Z' };
  const calls = [
    ['GET', `/api/webhooks/${id}/`],
    ['PATCH', `/api/webhooks/${id}/`, { isEnabled: false }],
    ['DELETE', `/api/webhooks/${id}/`],
    ['POST', `/api/webhooks/${id}/rotate-secret/`],
    ['POST', `/api/webhooks/${id}/test/`],
    ['POST', `/api/webhooks/${id}/recover/`, since],
    ['GET', `/api/webhooks/${id}/deliveries/`],
    ['POST', `/api/webhook-deliveries/${delivery}/resend/`],
  ] as const;
  const before = (await admin.get(`/api/webhooks/${id}/deliveries/`)).body;
  for (const [method, path, body] of calls) {
    expect(errorOf(await neighbour.send(method, path, body))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await employee.send(method, path, body))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
  }
  expect((await admin.get(`/api/webhooks/${id}/deliveries/`)).body).toEqual(before);
  expect((await list(neighbour)).webhooks).toEqual([]);
});
