import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Actor } from '../support/actor.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { database, clock, app } = service;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let admin: Actor;
beforeAll(async () => {
  admin = await service.registerCompany();
  await app.sweep.run();
});

/** A moment that long before now, as the service's clock says. */
const ago = (ms: number): Date => new Date(clock.now().getTime() - ms);

async function insertCode(email: string, expiresAt: Date): Promise<void> {
  await sql`
    insert into one_time_codes (email, purpose, code_hash, created_at, expires_at)
    values (${email}, 'login', 'hash', ${expiresAt}, ${expiresAt})`.execute(database.db);
}

async function insertToken(hash: string, expiresAt: Date): Promise<void> {
  await sql`
    insert into one_time_tokens (token_hash, purpose, account_id, created_at, expires_at)
    select ${hash}, 'password_reset', account_id, ${expiresAt}, ${expiresAt} from accounts limit 1`.execute(
    database.db,
  );
}

async function insertIdentityToken(hash: string, expiresAt: Date): Promise<void> {
  await sql`
    insert into used_identity_tokens (token_hash, expires_at) values (${hash}, ${expiresAt})`.execute(database.db);
}

async function insertDevice(device: string, lastSeenAt: Date): Promise<void> {
  await sql`
    insert into account_devices (account_id, device, network, last_seen_at)
    select account_id, ${device}, '127.0.0.1', ${lastSeenAt} from accounts limit 1`.execute(database.db);
}

async function insertClaim(subject: string, expiresAt: Date): Promise<void> {
  await sql`
    insert into apple_claims (subject, account_id, created_at, expires_at)
    select ${subject}, account_id, ${expiresAt}, ${expiresAt} from accounts limit 1`.execute(database.db);
}

async function insertAnswer(key: string, createdAt: Date): Promise<void> {
  await sql`
    insert into idempotent_answers (key_hash, operation, input_hash, sealed_answer, created_at)
    values (${key}, 'some.operation', 'hash', ''::bytea, ${createdAt})`.execute(database.db);
}

async function insertEvents(sequences: number[], at: Date): Promise<void> {
  const { companyId } = admin;
  await sql`
    insert into event_streams (company_id, stream, last_sequence) values (${companyId}, 'task 1', 10000)
    on conflict do nothing`.execute(database.db);
  await sql`
    insert into events (company_id, stream, sequence, type, payload, at)
    select ${companyId}, 'task 1', unnest(${sequences}::bigint[]), 'comment.created', '{}', ${at}`.execute(database.db);
}

async function insertMorning(day: string, createdAt: Date): Promise<void> {
  await sql`
    insert into company_mornings (company_id, day, created_at) values (${admin.companyId}, ${day}, ${createdAt})`.execute(
    database.db,
  );
}

async function insertMailCount(hash: string, endsAt: Date): Promise<void> {
  await sql`
    insert into mention_mails (company_id, address_hash, is_invited, count, ends_at)
    values (${admin.companyId}, ${hash}, true, 3, ${endsAt})`.execute(database.db);
}

async function insertInvitationMail(hash: string, mailedAt: Date): Promise<void> {
  await sql`
    insert into invitation_mails (company_id, address_hash, mailed_at)
    values (${admin.companyId}, ${hash}, ${mailedAt})`.execute(database.db);
}

async function insertClient(clientId: string, expiresAt: Date): Promise<void> {
  await sql`
    insert into oauth_clients (client_id, name, redirect_uris, created_at, expires_at)
    values (${clientId}, 'Planner', '{}', ${expiresAt}, ${expiresAt})`.execute(database.db);
}

/** A key that a person made, or what a client was granted. */
async function insertKey(name: string, expiresAt: Date, clientId: string | null): Promise<void> {
  await sql`
    insert into api_keys (company_id, employee_id, name, key_hash, key_start, scopes, expires_at, created_at, client_id)
    values (${admin.companyId}, ${admin.employeeId}, ${name}, ${name}, '', '{}', ${expiresAt}, ${expiresAt}, ${clientId})`.execute(
    database.db,
  );
}

/** A finished export, since a company makes one at a time. */
async function insertExport(sha256: string, expiresAt: Date): Promise<void> {
  await sql`
    insert into exports (company_id, requested_by_id, run, byte_count, sha256, created_at, finished_at, expires_at)
    values (${admin.companyId}, ${admin.employeeId}, gen_random_uuid(), 0, ${sha256}, now(), now(), ${expiresAt})`.execute(
    database.db,
  );
}

/** A webhook with a message of each of these types and ages, and one attempt of each. */
async function insertMessages(messages: Record<string, { at: Date; attemptAt: Date }>): Promise<void> {
  const webhook = { url: 'https://hooks.example.com', events: ['comment.created'] };
  const { _id: id } = (await admin.post('/api/webhooks/', webhook)).body;
  for (const [type, { at, attemptAt }] of Object.entries(messages))
    await sql`
      with message as (
        insert into webhook_messages (company_id, webhook_id, type, payload, at, due_at)
        values (${admin.companyId}, ${id}, ${type}, '{}', ${at}, ${at}) returning company_id, message_id
      )
      insert into webhook_attempts (company_id, message_id, at, duration_ms, answer)
      select company_id, message_id, ${attemptAt}, 1, ${type} from message`.execute(database.db);
}

async function insertSession(userAgent: string, moments: { expiresAt: Date; endedAt: Date | null }): Promise<void> {
  const { expiresAt, endedAt } = moments;
  await sql`
    insert into sessions (account_id, method, rotated_at, expires_at, user_agent, created_at, last_used_at, ended_at)
    select account_id, 'password', ${expiresAt}, ${expiresAt}, ${userAgent}, ${expiresAt}, ${expiresAt}, ${endedAt}
    from accounts limit 1`.execute(database.db);
}

async function list(column: string, table: string): Promise<unknown[]> {
  const { rows } = await sql<{ value: unknown }>`
    select ${sql.ref(column)} as value from ${sql.table(table)}
    where ${table === 'events' ? sql`company_id = ${admin.companyId} and stream = 'task 1'` : sql`true`}
    order by 1`.execute(database.db);
  return rows.map((row) => row.value);
}

test('a sweep takes what has served its time, and nothing that has not', async () => {
  await insertCode('expired@example.com', ago(1));
  await insertCode('alive@example.com', ago(-hourMs));
  await insertToken('expired', ago(1));
  await insertToken('alive', ago(-hourMs));
  await insertIdentityToken('expired an hour ago', ago(hourMs));
  await insertIdentityToken('expired just now', ago(1));
  await insertDevice('forgotten', ago(90 * dayMs));
  await insertDevice('known', ago(90 * dayMs - 60_000));
  await insertClaim('expired', ago(1));
  await insertClaim('alive', ago(-hourMs));
  await insertAnswer('a day old', ago(24 * hourMs));
  await insertAnswer('younger', ago(24 * hourMs - 60_000));
  await insertEvents([1, 2], ago(7 * dayMs));
  await insertEvents([3], ago(7 * dayMs - 60_000));
  await insertMorning('2026-03-02', ago(7 * dayMs));
  await insertMorning('2026-03-03', ago(7 * dayMs - 60_000));
  await insertExport('expired', ago(1));
  await insertExport('alive', ago(-hourMs));
  await insertMailCount('ended', ago(1));
  await insertMailCount('alive', ago(-hourMs));
  await insertInvitationMail('a day old', ago(dayMs));
  await insertInvitationMail('younger', ago(dayMs - 60_000));
  await insertClient('expired', ago(1));
  await insertClient('alive', ago(-hourMs));
  await insertKey('a grant, expired 7 days ago', ago(7 * dayMs), 'alive');
  await insertKey('a grant, expired lately', ago(7 * dayMs - 60_000), 'alive');
  await insertKey('a key, expired long ago', ago(70 * dayMs), null);
  await insertSession('ended 30 days ago', { expiresAt: ago(-dayMs), endedAt: ago(30 * dayMs) });
  await insertSession('expired 30 days ago', { expiresAt: ago(30 * dayMs), endedAt: null });
  await insertSession('ended lately', { expiresAt: ago(-dayMs), endedAt: ago(29 * dayMs) });
  await insertSession('expired lately', { expiresAt: ago(29 * dayMs), endedAt: null });

  await insertMessages({
    old: { at: ago(30 * dayMs), attemptAt: ago(30 * dayMs) },
    'old, sent again': { at: ago(30 * dayMs), attemptAt: ago(dayMs) },
    younger: { at: ago(30 * dayMs - 60_000), attemptAt: ago(30 * dayMs - 60_000) },
  });

  expect(await app.sweep.run()).toEqual({
    one_time_codes: 1,
    one_time_tokens: 1,
    used_identity_tokens: 1,
    account_devices: 1,
    apple_claims: 1,
    oauth_clients: 1,
    api_keys: 1,
    idempotent_answers: 1,
    mention_mails: 1,
    invitation_mails: 1,
    events: 2,
    webhook_attempts: 1,
    webhook_messages: 2,
    exports: 1,
    company_mornings: 1,
    sessions: 2,
  });
  expect(await list('email', 'one_time_codes')).toContain('alive@example.com');
  expect(await list('token_hash', 'one_time_tokens')).toEqual(['alive']);
  expect(await list('sha256', 'exports')).toEqual(['alive']);
  expect(await list('token_hash', 'used_identity_tokens')).toEqual(['expired just now']);
  expect(await list('device', 'account_devices')).not.toContain('forgotten');
  expect(await list('device', 'account_devices')).toContain('known');
  expect(await list('subject', 'apple_claims')).toEqual(['alive']);
  expect(await list('client_id', 'oauth_clients')).toEqual(['alive']);
  expect(await list('name', 'api_keys')).toEqual(['a grant, expired lately', 'a key, expired long ago']);
  expect(await list('key_hash', 'idempotent_answers')).toEqual(['younger']);
  expect(await list('address_hash', 'mention_mails')).toEqual(['alive']);
  expect(await list('address_hash', 'invitation_mails')).toEqual(['younger']);
  expect(await list('sequence', 'events')).toEqual([3]);
  expect(await list('type', 'webhook_messages')).toEqual(['younger']);
  expect(await list('answer', 'webhook_attempts')).toEqual(['younger']);
  expect(await list('day', 'company_mornings')).toEqual(['2026-03-03']);
  expect(await list('user_agent', 'sessions')).toEqual(expect.arrayContaining(['ended lately', 'expired lately']));
  expect((await admin.get('/api/sessions/')).status).toBe(200);
});

test('a sweep goes on until all is gone, however much there is, and several at once get on with each other', async () => {
  await insertEvents(
    Array.from({ length: 1_300 }, (_, index) => 100 + index),
    ago(8 * dayMs),
  );
  const sweeps = await Promise.all([app.sweep.run(), app.sweep.run()]);
  expect(sweeps[0]['events']! + sweeps[1]['events']!).toBe(1_300);
  expect(await list('sequence', 'events')).toEqual([3]);
});

test('time makes what is alive today a thing to sweep', async () => {
  clock.advance({ days: 8 });
  expect(await app.sweep.run()).toMatchObject({
    one_time_tokens: 1,
    idempotent_answers: 1,
    events: expect.any(Number),
  });
  expect(await list('sequence', 'events')).toEqual([]);
});

test('the secret of a webhook from before a rotation goes when it does not sign any more', async () => {
  const owner = await service.registerCompany();
  const webhook = { url: 'https://hooks.example.com/work', events: ['task.created'] };
  const { body } = await owner.post('/api/webhooks/', webhook);
  const rotated = await owner.post(`/api/webhooks/${body._id}/rotate-secret/`);
  expect(rotated).toMatchObject({ status: 200, body: { previousSecretUntil: expect.any(String) } });
  const hasPrevious = async (): Promise<boolean> => {
    await app.sweep.run();
    const { sealed_previous_secret } = await database.db
      .selectFrom('webhooks')
      .select('sealed_previous_secret')
      .where('webhook_id', '=', body._id)
      .executeTakeFirstOrThrow();
    return sealed_previous_secret !== null;
  };
  clock.advance({ hours: 23 });
  expect(await hasPrevious()).toBe(true);
  clock.advance({ hours: 1 });
  expect(await hasPrevious()).toBe(false);
});

test('a sweep that was started ends at once when it is told to', async () => {
  app.sweep.start();
  await app.sweep.stop();
  expect((await admin.get('/healthz')).status).toBe(200);
});
