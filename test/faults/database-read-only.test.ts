import { sql } from 'kysely';
import { expect, inject, test } from 'vitest';
import { errorOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';
import { runOn } from '../support/template.ts';
import { waitUntil } from '../support/waiting.ts';

/*
 * Just after a failover a statement may land on a server that takes no writes. That passes: callers are told to come
 * again, a balancer is told to go elsewhere, and what waits for its turn goes on waiting.
 */

const service = await startService();
const { database } = service;
const { db } = database;
const admin = await service.registerCompany();
await service.drain();

const template = inject('template');
const { name } = (await sql<{ name: string }>`select current_database() as name`.execute(db)).rows[0]!;

/** As a server that has become a standby, or is one no longer: by new connections, where there are several. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
  await setDefault(isReadOnly);
  if (template.kind === 'embedded') return;
  await runOn(template.url, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`);
}

/** On a server it holds for new connections; those that are open stay as they are. */
async function setDefault(isReadOnly: boolean): Promise<void> {
  const setting = isReadOnly ? 'on' : 'off';
  await (template.kind === 'embedded'
    ? sql`set default_transaction_read_only = ${sql.raw(setting)}`.execute(db)
    : runOn(template.url, `alter database ${name} set default_transaction_read_only = ${setting}`));
}

const readiness = async () => (await service.anonymous.get('/readyz')).status;

test('writes are 503 with Retry-After over REST and tRPC, reads go on, and the node says that it is not ready', async () => {
  await setReadOnly(true);
  await waitUntil(async () => (await readiness()) === 503 && (await sql`select 1`.execute(db).catch(() => undefined)));
  await waitUntil(async () => (await admin.get(`/employee/me/${admin.employeeId}/`)).status === 200);

  const answer = await admin.post('/api/projects/', { name: 'Engine' });
  expect(errorOf(answer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  await expect(admin.trpc.projects.create.mutate({ name: 'Engine' })).rejects.toMatchObject({
    data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 },
  });
  const ready = await service.anonymous.get('/readyz');
  expect(ready.body.detail).toBe('The database takes no writes: it is a standby, or set to read-only.');
  expect((await service.anonymous.get('/healthz')).status).toBe(200);
  expect(service.log()).toContain('"code":"25006"');

  await setReadOnly(false);
  await waitUntil(async () => (await readiness()) === 200, { timeout: 10_000 });
  expect((await admin.post('/api/projects/', { name: 'Engine' })).status).toBe(200);
});

/** A pooler keeps connections of its own, whatever the service does with those to the pooler. */
const isDirect = template.kind === 'embedded' || template.poolerUrl === undefined;

test.runIf(isDirect)(
  'connections to a standby are not kept: once there is a server that takes writes, the node writes and is ready',
  async () => {
    await setReadOnly(true);
    await waitUntil(async () => (await readiness()) === 503, { timeout: 10_000 });
    // Every connection of the pool is to the standby.
    await Promise.all(Array.from({ length: 20 }, () => admin.get(`/api/projects/company/${admin.companyId}/`)));
    await Promise.all(Array.from({ length: 20 }, () => admin.post('/api/projects/', { name: 'Engine' })));

    await setDefault(false);
    await waitUntil(async () => (await readiness()) === 200, { timeout: 10_000 });
    await waitUntil(async () => (await admin.post('/api/projects/', { name: 'Engine' })).status === 200);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => admin.post('/api/projects/', { name: 'Engine' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  },
);

test('a mail that is due then is sent when that is over, and counts no attempt for it', async () => {
  const email = 'waiting@example.com';
  expect((await service.anonymous.post('/get-register-otp/', { email })).status).toBe(200);
  await setReadOnly(true);
  await waitUntil(async () => (await readiness()) === 503, { timeout: 10_000 });
  await service.app.worker.drain().catch(() => {});
  await setReadOnly(false);
  await waitUntil(async () => (await readiness()) === 200, { timeout: 10_000 });
  const waiting = await db.selectFrom('jobs').select(['attempts', 'dead_lettered_at']).execute();
  expect(waiting).toEqual([{ attempts: 0, dead_lettered_at: null }]);
  await service.drain();
  expect(await db.selectFrom('jobs').select('handler').execute()).toEqual([]);
});
