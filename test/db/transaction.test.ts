import { AbortedTransactionError, CompiledQuery, PostgresDialect, sql, type Driver } from 'kysely';
import { afterAll, expect, inject, test } from 'vitest';
import type { Db } from '../../db/open.ts';
import { beginLazily, transact } from '../../db/transaction.ts';
import { openClone } from '../support/database.ts';
import { runOn, type Template } from '../support/template.ts';

// One connection, as the embedded database has: its holder blocks all others.
const database = await openClone({ connectionsMax: 1 });
afterAll(() => database.close());

const insert = (db: Db, email: string) =>
  sql`insert into accounts (email, created_at, updated_at) values (${email}, now(), now())`.execute(db);

const row = (email: string) => ({ email, created_at: new Date(), updated_at: new Date() });

async function isKept(email: string): Promise<boolean> {
  const row = await database.db.selectFrom('accounts').where('email', '=', email).select('email').executeTakeFirst();
  return row !== undefined;
}

test('a transaction takes no connection before its first statement, and holds one from then to its end', async () => {
  const transaction = database.begin();
  await database.ping();
  await insert(transaction.db, 'held@example.com');
  const order: string[] = [];
  const other = database.ping().then(() => order.push('other statement'));
  await transaction.commit().then(() => order.push('commit'));
  await other;
  expect(order).toEqual(['commit', 'other statement']);
});

test('a transaction without a statement ends without one', async () => {
  const begun: string[] = [];
  const onOpen = async () => void begun.push('opened');
  await database.begin(onOpen).commit();
  await database.begin(onOpen).rollback();
  expect(begun).toEqual([]);
  await database.ping();
});

test('what was rolled back is gone, what was committed is there, and the connection is free', async () => {
  const kept = database.begin();
  await insert(kept.db, 'kept@example.com');
  await kept.commit();
  const dropped = database.begin();
  await insert(dropped.db, 'dropped@example.com');
  await dropped.rollback();
  expect([await isKept('kept@example.com'), await isKept('dropped@example.com')]).toEqual([true, false]);
});

test.runIf(inject('template').kind === 'server')(
  'what made a transaction fail is what its caller hears, also where the connection is lost then',
  async () => {
    const failing = transact(database, async (db) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
      const template = inject('template') as Extract<Template, { kind: 'server' }>;
      await runOn(template.url, `select pg_terminate_backend(${rows[0]!.pid}, 5000)`);
      throw new Error('the reason');
    });
    await expect(failing).rejects.toThrow('the reason');
    await database.ping();
  },
);

test('statements that come at once share one transaction, which opens once', async () => {
  let opened = 0;
  const transaction = database.begin(async () => void (opened += 1));
  const ids = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(transaction.db);
      return rows[0]!.id;
    }),
  );
  await transaction.commit();
  expect({ transactions: new Set(ids).size, opened }).toEqual({ transactions: 1, opened: 1 });
});

test('what runs at the opening belongs to the transaction, and its failure fails the statement', async () => {
  const transaction = database.begin(async (db) => {
    await insert(db, 'opening@example.com');
    throw new Error('refused at the opening');
  });
  await expect(insert(transaction.db, 'first@example.com')).rejects.toThrow('refused at the opening');
  await transaction.rollback();
  expect([await isKept('opening@example.com'), await isKept('first@example.com')]).toEqual([false, false]);
});

test('a transaction with a failed statement cannot be committed, even where the failure was swallowed', async () => {
  const transaction = database.begin();
  await insert(transaction.db, 'before@example.com');
  await insert(transaction.db, 'Capitals@example.com').catch(() => {});
  await expect(transaction.commit()).rejects.toThrow(AbortedTransactionError);
  expect(await isKept('before@example.com')).toBe(false);
});

test('a transaction that cannot begin writes nothing', async () => {
  const refusing: Driver = {
    init: async () => {},
    acquireConnection: async () => {
      throw new Error('the connection is held already');
    },
    beginTransaction: async (connection) => {
      await connection.executeQuery(CompiledQuery.raw('select 1'));
      throw new Error('no transaction today');
    },
    commitTransaction: async () => {},
    rollbackTransaction: async () => {},
    releaseConnection: async () => {},
    destroy: async () => {},
  };
  const dialect = new PostgresDialect({ pool: async () => Promise.reject(new Error('not used')) });
  const { db, commit, rollback } = beginLazily(database.db, { dialect, driver: refusing });
  const outcomes = await Promise.allSettled([
    db.selectFrom('accounts').select('email').execute(),
    insert(db, 'unbegun@example.com'),
    sql`with made as (insert into accounts (email, created_at, updated_at) values ('cte@example.com', now(), now())
      returning email) select email from made`.execute(db),
    db
      .with('made', (on) => on.insertInto('accounts').values(row('built@example.com')).returning('email'))
      .selectFrom('made')
      .select('email')
      .execute(),
  ]);
  expect(outcomes.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
  await expect(commit()).rejects.toThrow('no transaction today');
  await rollback();
  for (const email of ['unbegun', 'cte', 'built']) expect(await isKept(`${email}@example.com`)).toBe(false);
});

test('a statement that comes after the end is refused and runs nowhere', async () => {
  for (const end of ['commit', 'rollback'] as const) {
    const transaction = database.begin();
    await sql`select 1`.execute(transaction.db);
    const ending = transaction[end]();
    await expect(insert(transaction.db, 'late@example.com')).rejects.toThrow('has ended');
    await ending;
    await expect(insert(transaction.db, 'later@example.com')).rejects.toThrow('has ended');
  }
  expect([await isKept('late@example.com'), await isKept('later@example.com')]).toEqual([false, false]);
});

test('a branch of work that goes on after another one has failed does nothing more', async () => {
  const transaction = database.begin();
  const slow = async () => {
    await insert(transaction.db, 'branch@example.com');
    await database.ping();
    await insert(transaction.db, 'branch-later@example.com');
  };
  const going = slow();
  const failing = sql`select 1 / ${0}::integer`.execute(transaction.db);
  await expect(failing).rejects.toThrow('division by zero');
  await transaction.rollback();
  await expect(going).rejects.toThrow('division by zero');
  expect([await isKept('branch@example.com'), await isKept('branch-later@example.com')]).toEqual([false, false]);
});

test('what is sent with the commit behind it is kept whole or not at all', async () => {
  const kept = database.begin();
  const sent = kept.commitBehind([() => insert(kept.db, 'a@behind.com'), () => insert(kept.db, 'b@behind.com')]);
  await expect(sent).resolves.toHaveLength(2);
  await kept.commit();
  expect([await isKept('a@behind.com'), await isKept('b@behind.com')]).toEqual([true, true]);

  const refused = database.begin();
  await insert(refused.db, 'c@behind.com');
  await expect(
    refused.commitBehind([() => insert(refused.db, 'd@behind.com'), () => insert(refused.db, 'a@behind.com')]),
  ).rejects.toThrow('accounts_email_key');
  await refused.rollback();
  expect([await isKept('c@behind.com'), await isKept('d@behind.com')]).toEqual([false, false]);
});

test('nothing is kept where the last statements could not all be sent', async () => {
  const { db, commitBehind, rollback } = database.begin();
  const sent = commitBehind([
    () => insert(db, 'half@behind.com'),
    () => {
      throw new Error('no payload');
    },
  ]);
  await expect(sent).rejects.toThrow('no payload');
  await rollback();
  expect(await isKept('half@behind.com')).toBe(false);
});

test('a second statement of a step that has the commit behind it is refused, and its caller told', async () => {
  const { db, commitBehind } = database.begin();
  const sent = commitBehind([
    async () => {
      await insert(db, 'first@behind.com');
      await insert(db, 'second@behind.com');
    },
  ]);
  await expect(sent).rejects.toThrow('the transaction has ended');
  expect(await isKept('second@behind.com')).toBe(false);
});
