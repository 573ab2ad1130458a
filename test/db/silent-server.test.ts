import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openServer, type Db } from '../../db/open.ts';
import { toApiError } from '../../server/errors/errors.ts';
import { startProxy } from '../support/proxy.ts';

const template = inject('template');
const url = template.kind === 'server' ? template.url : '';

async function open(connectionsMax = 4) {
  const proxy = await startProxy(url, 5432);
  const database = openServer(proxy.url, { connectionsMax });
  onTestFinished(async () => {
    proxy.cut();
    await database.close();
    await proxy.close();
  });
  await database.ping();
  return { database, proxy };
}

const sleep = (db: Db, seconds: number) => sql`select pg_sleep(${seconds}::float8)`.execute(db);
/** What became of a statement, by the code that its caller gets, and after how long. */
async function outcome(work: Promise<unknown>): Promise<{ code: string; afterMs: number }> {
  const begun = performance.now();
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  const code = failure === undefined ? 'answered' : toApiError(failure).definition.code;
  return { code, afterMs: performance.now() - begun };
}

describe.runIf(template.kind === 'server')('a server that goes silent', () => {
  test('costs no statement more than ten seconds, and the next ones are answered once it is back', async () => {
    const { database, proxy } = await open();
    // In transactions, on all connections, and more than there are connections.
    const held = Array.from({ length: 3 }, () => database.begin());
    for (const { db } of held) await sql`select 1`.execute(db);
    proxy.freeze();
    const asked = [...held.map(({ db }) => db), ...Array.from({ length: 12 }, () => database.db), database.reads];
    const outcomes = await Promise.all(asked.map((db) => outcome(sql`select ${1}::integer`.execute(db))));
    expect(outcomes.map(({ code }) => code)).toEqual(asked.map(() => 'SERVICE_UNAVAILABLE'));
    expect(Math.max(...outcomes.map(({ afterMs }) => afterMs))).toBeLessThan(10_000);

    await Promise.allSettled(held.map((one) => one.rollback()));
    proxy.restore();
    const back = await outcome(sql`select ${1}::integer`.execute(database.db));
    expect(back.code).toBe('answered');
    expect(back.afterMs).toBeLessThan(10_000);
  });

  test('is noticed however many statements are still sent to it', async () => {
    const { database, proxy } = await open(10);
    const held = Array.from({ length: 10 }, () => database.begin());
    for (const { db } of held) await sql`select 1`.execute(db);
    proxy.freeze();
    const outcomes: Promise<{ code: string; afterMs: number }>[] = [];
    for (const { db } of held) {
      outcomes.push(outcome(sql`select ${1}::integer`.execute(db)));
      await delay(600);
    }
    for (const { code, afterMs } of await Promise.all(outcomes)) {
      expect(code).toBe('SERVICE_UNAVAILABLE');
      expect(afterMs).toBeLessThan(10_000);
    }
    await Promise.allSettled(held.map((one) => one.rollback()));
  });

  test('while another one answers in its place (a failover without a word) loses its connections all the same', async () => {
    const { database, proxy } = await open();
    const transaction = database.begin();
    await sql`select 1`.execute(transaction.db);
    proxy.forget();
    const lost = await outcome(sql`select ${1}::integer`.execute(transaction.db));
    expect(lost.code).toBe('SERVICE_UNAVAILABLE');
    expect(lost.afterMs).toBeLessThan(10_000);
    await transaction.rollback().catch(() => {});
    expect((await outcome(sql`select ${1}::integer`.execute(database.db))).code).toBe('answered');
  });

  test('is noticed as well where it is a pooler, and the server itself still answers', async () => {
    const pooler = await startProxy(url, 5432);
    const database = openServer(pooler.url, { connectionsMax: 4, isPooled: true, directUrl: url });
    onTestFinished(async () => {
      pooler.cut();
      await database.close();
      await pooler.close();
    });
    await database.ping();
    pooler.freeze();
    const { code, afterMs } = await outcome(sql`select ${1}::integer`.execute(database.db));
    expect(code).toBe('SERVICE_UNAVAILABLE');
    expect(afterMs).toBeLessThan(10_000);
  });

  test('is told from a statement that is slow, which is left alone', async () => {
    const { database } = await open();
    const slow = outcome(sleep(database.db, 8));
    const waiting = database.begin();
    await sql`select pg_advisory_xact_lock(7210021)`.execute(waiting.db);
    const blocked = outcome(sql`select pg_advisory_xact_lock(${7_210_021}::bigint)`.execute(database.db));
    expect((await slow).code).toBe('answered');
    await waiting.commit();
    expect((await blocked).code).toBe('answered');
  });
});
