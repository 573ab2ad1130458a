import { sql } from 'kysely';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { continueAuditClock } from '../../../db/audit-clock.ts';
import { deleteExpired, listExpired } from '../../../server/features/audit/retention.ts';
import { sealCompany } from '../../../server/features/audit/seals.ts';
import { generateKeys } from '../../../server/platform/signing-keys.ts';
import { createTokens } from '../../../server/platform/tokens.ts';
import { verifyCompany } from '../../../server/features/audit/verify-company.ts';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { waitUntil } from '../../support/waiting.ts';

/* What the seals of the audit log prove: each test breaks it as the owner of the database could. */

const service = await startService();
const { database, app } = service;
const { db } = database;
const { tokens } = app.services;
let admin: Actor;

/** A company with three seals of two rows each, beside that of its registration. */
beforeEach(async () => {
  admin = await service.registerCompany();
  await sealAll();
  for (let seal = 0; seal < 3; seal += 1) {
    await addRow();
    await addRow();
    await sealAll();
  }
});

/** Seals all rows of the company by one seal, as soon as no other database of the server has a transaction of before. */
async function sealAll(): Promise<void> {
  const { companyId } = admin;
  const isComplete = async () => {
    const { rows } = await sql<{ complete: boolean }>`
      select max(xid) < pg_snapshot_xmin(pg_current_snapshot())::text::bigint + (select xid_offset from audit_clock) as complete
      from audit_log where company_id = ${companyId} and xid < 8000000000000`.execute(db);
    return rows[0]!.complete;
  };
  await waitUntil(isComplete, { timeout: 120_000 });
  await app.auditSealer.run();
}

const addRow = () => admin.post('/api/projects/', { name: 'Audited' });

type Verdict = {
  isIntact: boolean;
  problem: { kind: string; seal: number; rowId: number | null } | null;
  lastSeal: { seal: number; hash: string };
  checkedSeals: number;
  checkedRows: number;
  unsealedRows: number;
  next: number | null;
};

async function verify(query = ''): Promise<Verdict> {
  const { status, body } = await admin.get(`/api/audit/company/${admin.companyId}/verify/${query}`);
  expect(status).toBe(200);
  return body;
}

/** Changes what the database protects, as its owner can. */
async function tamper(statement: ReturnType<typeof sql>): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    for (const table of ['audit_log', 'audit_seals'])
      await sql`alter table ${sql.table(table)} disable trigger user`.execute(transaction);
    await statement.execute(transaction);
    for (const table of ['audit_log', 'audit_seals'])
      await sql`alter table ${sql.table(table)} enable trigger user`.execute(transaction);
  });
}

type Place = { audit_id: number; xid: number };

/** The rows of a seal, by their numbers. */
async function rowsOf(sealId: number): Promise<Place[]> {
  const { rows } = await sql<Place>`
    select a.audit_id, a.xid from audit_log as a join audit_seals as s
      on s.company_id = a.company_id and a.xid >= s.from_xid and a.xid < s.to_xid
    where a.company_id = ${admin.companyId} and s.seal_id = ${sealId} order by a.audit_id`.execute(db);
  return rows;
}

const own = () => sql`company_id = ${admin.companyId}`;

describe('a log that nobody touched', () => {
  test('is intact', async () => {
    const verdict = await verify();
    expect(verdict).toMatchObject({ isIntact: true, problem: null, checkedSeals: 4, unsealedRows: 0, next: null });
    expect(verdict.checkedRows).toBeGreaterThanOrEqual(7);
  });

  test('counts what has no seal yet', async () => {
    await addRow();
    expect(await verify()).toMatchObject({ isIntact: true, unsealedRows: 1 });
  });

  test('has rows of running transactions in no seal, and in the next one when they end', async () => {
    // One connection cannot hold a transaction beside the others.
    const isServer = database.kind === 'server';
    const running = isServer ? database.owner.begin() : undefined;
    if (running) await sql`select pg_current_xact_id()`.execute(running.db);
    await addRow();
    await app.auditSealer.run();
    expect((await verify()).unsealedRows).toBe(isServer ? 1 : 0);
    await running?.rollback();
    await sealAll();
    expect(await verify()).toMatchObject({ isIntact: true, unsealedRows: 0, checkedSeals: 5 });
  });

  test('is sealed once by nodes that seal at the same time', async () => {
    await addRow();
    await Promise.all([sealAll(), sealAll(), sealAll()]);
    expect(await verify()).toMatchObject({ isIntact: true, checkedSeals: 5, unsealedRows: 0 });
  });

  test('has seals of no other company', async () => {
    const neighbour = await service.registerCompany();
    expect((await neighbour.get(`/api/audit/company/${admin.companyId}/verify/`)).status).toBe(404);
    expect((await verify()).isIntact).toBe(true);
  });
});

describe('verification names', () => {
  test('the first row that was changed', async () => {
    const [row] = await rowsOf(3);
    const [later] = await rowsOf(4);
    await tamper(sql`
      update audit_log set employee_id = employee_id + 1
      where ${own()} and audit_id in (${row!.audit_id}, ${later!.audit_id})`);
    expect(await verify()).toMatchObject({
      isIntact: false,
      problem: { kind: 'row changed', seal: 3, rowId: row!.audit_id },
    });
  });

  test.each([
    ['its time', sql`at = at + interval '1 microsecond'`],
    ['its changes', sql`changes = '[{"event":"project.created"}]'`],
    ['its network', sql`network = null`],
    ['its operation', sql`operation = 'projects.update'`],
    ['its result', sql`result = 'refused'`],
    ['its count', sql`times = 2`],
  ])('a row when somebody changes %s', async (_, change) => {
    const [, row] = await rowsOf(2);
    await tamper(sql`update audit_log set ${change} where ${own()} and audit_id = ${row!.audit_id}`);
    expect((await verify()).problem).toEqual({ kind: 'row changed', seal: 2, rowId: row!.audit_id });
  });

  test('the first row that was removed', async () => {
    const [, row] = await rowsOf(3);
    await tamper(sql`delete from audit_log where ${own()} and audit_id = ${row!.audit_id}`);
    expect((await verify()).problem).toEqual({ kind: 'row removed', seal: 3, rowId: row!.audit_id });
  });

  test('the first row that was inserted', async () => {
    const [row] = await rowsOf(3);
    await tamper(sql`
      insert into audit_log (company_id, xid, transport, operation, changes, result)
      values (${admin.companyId}, ${row!.xid}, 'rest', 'projects.delete', '[]', 'done')`);
    const { problem } = await verify();
    expect(problem).toMatchObject({ kind: 'row inserted', seal: 3 });
    expect(problem!.rowId).toBeGreaterThan(row!.audit_id);
  });

  test('a row that was inserted for a time to come, where no seal would reach it', async () => {
    await tamper(sql`
      insert into audit_log (company_id, xid, transport, operation, changes, result)
      values (${admin.companyId}, 8000000000000, 'rest', 'projects.delete', '[]', 'done')`);
    onTestFinished(() => tamper(sql`delete from audit_log where xid = 8000000000000`));
    expect((await verify()).problem).toMatchObject({ kind: 'row inserted', seal: 5 });
  });

  test.each([
    ['its range', sql`to_xid = to_xid + 1`],
    ['its count', sql`row_count = row_count + 1`],
    ['its entries', sql`entries = substring(entries from 1 for 40)`],
    ['its time', sql`sealed_at = sealed_at - interval '1 day'`],
    ['its statement', sql`statement = statement || 'A'`],
    ['its signature', sql`statement = regexp_replace(statement, '[^.]+$', 'AAAA')`],
  ])('a seal when somebody changes %s', async (_, change) => {
    await tamper(sql`update audit_seals set ${change} where ${own()} and seal_id = 2`);
    expect((await verify()).problem).toEqual({ kind: 'seal changed', seal: 2, rowId: null });
  });

  test('a seal that was removed, with its rows', async () => {
    const [row] = await rowsOf(2);
    await tamper(sql`delete from audit_log where ${own()} and xid = ${row!.xid}`);
    await tamper(sql`delete from audit_seals where ${own()} and seal_id = 2`);
    expect((await verify()).problem).toEqual({ kind: 'seal removed', seal: 2, rowId: null });
  });

  test('a seal that was removed from the beginning', async () => {
    await tamper(sql`delete from audit_seals where ${own()} and seal_id < 3`);
    expect((await verify()).problem).toEqual({ kind: 'seal removed', seal: 2, rowId: null });
  });

  test('a seal that another one replaced, signed by another key', async () => {
    const stranger = await createTokens(await generateKeys());
    const { statement } = await db
      .selectFrom('audit_seals')
      .where('company_id', '=', admin.companyId)
      .where('seal_id', '=', 4)
      .select('statement')
      .executeTakeFirstOrThrow();
    const payload = JSON.parse(Buffer.from(statement.split('.')[1]!, 'base64url').toString()) as object;
    const forged = await stranger.statements.sign('audit-seal', payload);
    await tamper(sql`update audit_seals set statement = ${forged} where ${own()} and seal_id = 4`);
    expect((await verify()).problem).toEqual({ kind: 'unknown key', seal: 4, rowId: null });
  });
});

describe('a seal that is known from before', () => {
  test('is found', async () => {
    const { seal, hash } = (await verify()).lastSeal;
    expect(await verify(`?knownSeal=${seal}&knownHash=${hash}`)).toMatchObject({ isIntact: true });
  });

  test('shows that the end of the log was cut off, which nothing else does', async () => {
    const { seal, hash } = (await verify()).lastSeal;
    const rows = await rowsOf(4);
    await tamper(sql`delete from audit_log where ${own()} and xid >= ${rows[0]!.xid}`);
    await tamper(sql`delete from audit_seals where ${own()} and seal_id = 4`);
    expect((await verify()).isIntact).toBe(true);
    expect((await verify(`?knownSeal=${seal}&knownHash=${hash}`)).problem).toEqual({
      kind: 'seal removed',
      seal: 4,
      rowId: null,
    });
  });

  test.each([
    ['?knownSeal=1', 'knownHash'],
    ['?knownHash=abc', 'knownSeal'],
  ])('a half of what is known is refused, not passed over: %s', async (query, missing) => {
    const { status, body } = await admin.get(`/api/audit/company/${admin.companyId}/verify/${query}`);
    expect([status, body.issues]).toEqual([
      400,
      [{ path: [missing], message: `is required with ${query.slice(1).split('=')[0]}`, code: 'required' }],
    ]);
  });
});

describe('keys', () => {
  test('a seal of a key that is gone is proved by a later one', async () => {
    const [old, next] = [JSON.parse(await generateKeys()), JSON.parse(await generateKeys())] as { keys: object[] }[];
    const both = await createTokens(JSON.stringify({ keys: [...next!.keys, ...old!.keys] }));
    const oldOnly = await createTokens(JSON.stringify(old));
    const nextOnly = await createTokens(JSON.stringify(next));
    const { companyId } = await service.registerCompany();
    const sealBy = (by: typeof both) =>
      waitUntil(() => sealCompany({ database, tokens: by }, companyId), { timeout: 120_000 });
    const chain = (by: typeof both) => verifyCompany({ db, tokens: by, companyId }, {});
    await sealBy(oldOnly);
    expect(await chain(both)).toMatchObject({ isIntact: true, checkedSeals: 1 });
    expect((await chain(nextOnly)).problem).toEqual({ kind: 'unknown key', seal: 1, rowId: null });
    await sql`
      insert into audit_log (company_id, xid, transport, operation, changes, result)
      select ${companyId}, pg_current_xact_id()::text::bigint, 'rest', 'projects.create', '[]', 'done'`.execute(db);
    await sealBy(nextOnly);
    expect(await chain(nextOnly)).toMatchObject({ isIntact: true, checkedSeals: 2 });
  });
});

describe('retention', () => {
  const sealedAt = async (sealId: number) =>
    (
      await db
        .selectFrom('audit_seals')
        .where('company_id', '=', admin.companyId)
        .where('seal_id', '=', sealId)
        .select('sealed_at')
        .executeTakeFirstOrThrow()
    ).sealed_at;

  test('deletes whole sealed ranges, says so, and leaves a log that is intact', async () => {
    const kept = [...(await rowsOf(3)), ...(await rowsOf(4))].map((row) => row.audit_id);
    const before = await sealedAt(3);
    expect(await listExpired(db, before)).toContain(admin.companyId);
    expect(await deleteExpired({ database: app.services.database, tokens }, admin.companyId, before)).toBeGreaterThan(
      0,
    );
    const { body } = await admin.get(`/api/audit/company/${admin.companyId}/`);
    const [first, ...others] = body.results;
    expect(first).toMatchObject({
      operation: 'audit.retention',
      transport: 'job',
      subject: { kind: 'audit_seal', id: 2 },
    });
    expect(others.map((row: { _id: number }) => row._id)).toEqual(kept.toReversed());
    expect(await verify()).toMatchObject({ isIntact: true, checkedSeals: 2, unsealedRows: 1 });
    await sealAll();
    expect(await verify()).toMatchObject({ isIntact: true, checkedSeals: 3 });
  });

  test('never deletes the newest seal, nor rows without one', async () => {
    await addRow();
    const future = new Date(Date.now() + 3_600_000_000);
    await deleteExpired({ database: app.services.database, tokens }, admin.companyId, future);
    expect(await verify()).toMatchObject({ isIntact: true, checkedSeals: 1, unsealedRows: 2 });
    expect(await listExpired(db, future)).not.toContain(admin.companyId);
  });

  test('does not excuse a deletion that only looks like it', async () => {
    await tamper(
      sql`delete from audit_log where ${own()} and xid < (select to_xid from audit_seals where ${own()} and seal_id = 2)`,
    );
    await tamper(sql`delete from audit_seals where ${own()} and seal_id <= 2`);
    await sql`
      insert into audit_log (company_id, xid, transport, operation, subject_kind, subject_id, changes, result)
      values (${admin.companyId}, pg_current_xact_id()::text::bigint, 'job', 'audit.retention', 'audit_seal', 2,
        '[{"after": {"proof": "e30.e30.AAAA"}}]', 'done')`.execute(db);
    expect((await verify()).problem).toEqual({ kind: 'seal removed', seal: 2, rowId: null });
  });
});

test('a database that was restored on a server with lower transaction identifiers goes on behind its rows', async () => {
  const { lastSeal } = await verify();
  const readOffset = async () =>
    (await db.selectFrom('audit_clock').select('xid_offset').executeTakeFirstOrThrow()).xid_offset;
  // As if the rows were of a server that had counted further.
  await sql`update audit_clock set xid_offset = -100000`.execute(db);
  await continueAuditClock(db);
  const offset = await readOffset();
  expect(offset).toBeGreaterThan(0);
  await addRow();
  await sealAll();
  expect(await verify()).toMatchObject({ isIntact: true, lastSeal: { seal: lastSeal.seal + 1 }, unsealedRows: 0 });
  await continueAuditClock(db);
  expect(await readOffset()).toBe(offset);
});
