import { createServer, connect, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openServer, type Database, type Db } from '../../db/open.ts';
import { inOrder } from '../../db/pipeline/in-order.ts';
import { openClone } from '../support/database.ts';

const template = inject('template');

/** A database that records every write to the server, as text. */
async function openTapped(): Promise<{ database: Database; roundTrips: string[] }> {
  const url = new URL(template.kind === 'server' ? template.url : '');
  const { hostname: host } = url;
  const port = Number(url.port || 5432);
  const roundTrips: string[] = [];
  const tap = createServer((near) => {
    const far = connect({ host, port });
    near.on('data', (chunk) => roundTrips.push(chunk.toString('latin1')));
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  await new Promise<void>((resolve) => tap.listen(0, '127.0.0.1', resolve));
  url.hostname = '127.0.0.1';
  url.port = String((tap.address() as AddressInfo).port);
  const database = openServer(url.href, { connectionsMax: 1, readConnections: 0 });
  onTestFinished(async () => {
    await database.close();
    await new Promise((resolve) => tap.close(resolve));
  });
  await database.ping();
  roundTrips.length = 0;
  return { database, roundTrips };
}

/** Built, so it is known to write nothing. */
const select = (db: Db, word: string) => db.selectNoFrom(sql<string>`${word}::text`.as('word')).execute();
const say = (db: Db, word: string) => sql<{ word: string }>`select ${word}::text as word`.execute(db);
const wordsIn = (written: string): string[] => written.match(/begin|word \d|into spoken|commit/g) ?? [];

describe.runIf(template.kind === 'server')('a transaction', () => {
  test('takes as many round trips as its statements wait for each other', async () => {
    const { database, roundTrips } = await openTapped();
    const { db, commit } = database.begin();
    await inOrder(db, [() => select(db, 'word 1'), () => select(db, 'word 2'), () => say(db, 'word 3')]);
    await say(db, 'word 4');
    await commit();
    expect(roundTrips.map(wordsIn)).toEqual([['begin', 'word 1', 'word 2'], ['word 3'], ['word 4'], ['commit']]);
  });

  test('writes nothing before it has begun', async () => {
    const { database, roundTrips } = await openTapped();
    await sql`create temporary table spoken (word text)`.execute(database.db);
    roundTrips.length = 0;
    const { db, commit } = database.begin();
    await inOrder(db, [
      () => select(db, 'word 1'),
      () => sql`insert into spoken values (${'word 2'})`.execute(db),
      () => select(db, 'word 3'),
    ]);
    await commit();
    expect(roundTrips.map(wordsIn)).toEqual([['begin', 'word 1'], ['into spoken', 'word 2', 'word 3'], ['commit']]);
  });

  test('sends its commit right behind its last statements', async () => {
    const { database, roundTrips } = await openTapped();
    await sql`create temporary table spoken (word text)`.execute(database.db);
    roundTrips.length = 0;
    const { db, commitBehind } = database.begin();
    await say(db, 'word 1');
    const [, said] = await commitBehind([
      () => sql`insert into spoken values (${'word 2'})`.execute(db),
      () => say(db, 'word 3'),
    ]);
    expect(said.rows).toEqual([{ word: 'word 3' }]);
    // In one write or in two that nothing is waited for between.
    expect(roundTrips.flatMap(wordsIn)).toEqual(['begin', 'word 1', 'into spoken', 'word 2', 'word 3', 'commit']);
    expect(roundTrips.length).toBeLessThanOrEqual(3);
  });
});

describe('the statements of a transaction', () => {
  test('that are listed run in the order of the list, however long a step takes to ask for its own', async () => {
    const database = await openClone();
    onTestFinished(() => database.close());
    const { db, commit } = database.begin();
    const orders = sql<{ place: number }>`select nextval('accounts_account_id_seq')::integer as place`;
    const place = async (after: () => Promise<unknown>) => {
      await after();
      const { rows } = await orders.execute(db);
      return rows[0]!.place;
    };
    const places = await inOrder(db, [
      () => place(() => delay(20)),
      () => 'no statement',
      () => place(async () => {}),
      () => place(() => delay(10)),
      () => place(async () => {}),
    ]);
    await commit();
    const numbers = places.filter((one) => typeof one === 'number');
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(numbers).toHaveLength(4);
  });

  test('that are listed behind a step which refuses are not sent', async () => {
    const database = await openClone();
    onTestFinished(() => database.close());
    const { db, rollback } = database.begin();
    const sent: string[] = [];
    const steps = inOrder(db, [
      () => say(db, 'word 1'),
      () => Promise.reject(new Error('refused')),
      () => sent.push('word 3'),
    ]);
    await expect(steps).rejects.toThrow('refused');
    await rollback();
    expect(sent).toEqual([]);
  });

  test('that are sent at once run in the order in which they were asked for', async () => {
    const database = await openClone();
    onTestFinished(() => database.close());
    const { db, commit } = database.begin();
    const insert = (email: string) =>
      sql`insert into accounts (email, created_at, updated_at) values (${email}, now(), now())`.execute(db);
    const count = async () => {
      const { count } = await db
        .selectFrom('accounts')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      return count;
    };
    const [, first, , second, third] = await Promise.all([
      insert('one@example.com'),
      count(),
      insert('two@example.com'),
      count(),
      count(),
    ]);
    await commit();
    expect([first, second, third]).toEqual([1, 2, 2]);
  });

  test('that are sent behind one that fails tell of its failure', async () => {
    const database = await openClone();
    onTestFinished(() => database.close());
    const { db, rollback } = database.begin();
    const divide = async () => {
      // However long its own way back is.
      for (let step = 0; step < 20; step += 1) await Promise.resolve();
      await sql`select 1 / ${0}::integer`.execute(db);
    };
    await say(db, 'word 1');
    const outcomes = await Promise.allSettled([
      sql`select 1 / ${0}::integer`.execute(db),
      say(db, 'word 2'),
      divide(),
      say(db, 'word 3'),
    ]);
    await rollback();
    expect(outcomes.map((one) => (one.status === 'rejected' ? String(one.reason) : 'answered'))).toEqual(
      Array(4).fill('error: division by zero'),
    );
  });
});
