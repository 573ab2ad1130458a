import { sql } from 'kysely';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import type { Database, Db, ServerOptions } from '../../db/open.ts';
import { openClone } from '../support/database.ts';
import { waitUntil } from '../support/waiting.ts';

async function open(options: Omit<ServerOptions, 'rowSecurity'> = {}): Promise<Database> {
  const database = await openClone({ readConnections: 1, ...options });
  onTestFinished(() => database.close());
  return database;
}

type Place = { pid: number; isPipelined: boolean };

/** Where a statement runs: pipelined connections are the only ones that refuse to write. */
async function placeOf(db: Db): Promise<Place> {
  const { rows } = await sql<Place>`
    select pg_backend_pid() as pid, current_setting('default_transaction_read_only') = 'on' as "isPipelined",
      ${'as a named statement'}::text as "asked"`.execute(db);
  const { pid, isPipelined } = rows[0]!;
  return { pid, isPipelined };
}

/** The connection opens beside the first reads. */
async function oncePipelined({ reads }: Database): Promise<Place> {
  return waitUntil(async () => {
    const place = await placeOf(reads);
    return place.isPipelined && place;
  });
}

const echo = async (db: Db, value: number): Promise<number> => {
  const { rows } = await sql<{ value: number }>`select ${value}::integer as value`.execute(db);
  return rows[0]!.value;
};
const sleep = (db: Db, seconds: number) =>
  sql<{ slept: number }>`select ${seconds}::float8 as slept from pg_sleep(${seconds})`.execute(db);

/** How many reads are slow at this moment, each on a connection for slow ones. */
async function countSlow(db: Db): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::integer as n from pg_stat_activity
    where datname = current_database() and state = 'active' and query like 'select % from pg_sleep(%'
      and pid <> pg_backend_pid() and ${'as a named statement'}::text <> ''`.execute(db);
  return rows[0]!.n;
}

const numbers = Array.from({ length: 1_000 }, (_, index) => index);

const template = inject('template');
/** Behind a pooler there are no such connections. */
const isPipelined = template.kind === 'server' && template.poolerUrl === undefined;

describe('reads on any database', () => {
  test('each get their own answer, however many are in flight and whatever becomes of the others', async () => {
    const database = await open();
    if (isPipelined) await oncePipelined(database);
    const answers = await Promise.allSettled(
      numbers.map(async (value) => {
        if (value % 7 === 0) await sql`select 1 / ${value - value}::integer as "failed"`.execute(database.reads);
        return value % 2 === 0 ? echo(database.reads, value) : -(await echo(database.reads, -value));
      }),
    );
    expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason)))).toEqual(
      numbers.map((value) => (value % 7 === 0 ? 'error: division by zero' : value)),
    );
  });

  test('see at once what was committed before them', async () => {
    const database = await open();
    if (isPipelined) await oncePipelined(database);
    for (const index of numbers.slice(0, 20)) {
      const email = `person${index}@example.com`;
      await database.db
        .insertInto('accounts')
        .values({ email, created_at: new Date(), updated_at: new Date() })
        .execute();
      const seen = database.reads.selectFrom('accounts').where('email', '=', email).select('email').execute();
      expect(await seen).toEqual([{ email }]);
    }
  });
});

describe.runIf(isPipelined)('a pipelined connection', () => {
  test('takes the reads of all callers on one connection, and none without parameters', async () => {
    const database = await open();
    const { pid } = await oncePipelined(database);
    const places = await Promise.all(numbers.slice(0, 50).map(() => placeOf(database.reads)));
    expect(new Set(places.map((place) => place.pid))).toEqual(new Set([pid]));
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.reads);
    expect(rows[0]!.pid).not.toBe(pid);
  });

  test('is left by the reads behind a slow one, which gets its answer elsewhere and stays away', async () => {
    const database = await open();
    await oncePipelined(database);
    const order: string[] = [];
    const slow = sleep(database.reads, 1).then(({ rows }) => order.push(`slept ${rows[0]!.slept}`));
    const quick = numbers.slice(0, 50).map((value) => echo(database.reads, value));
    expect(await Promise.all(quick)).toEqual(numbers.slice(0, 50));
    order.push('quick');
    await slow;
    expect(order).toEqual(['quick', 'slept 1']);

    await oncePipelined(database);
    const again = sleep(database.reads, 0.5);
    const places = [await placeOf(database.reads), await placeOf(database.reads)];
    expect(places.map((place) => place.isPipelined)).toEqual([true, true]);
    await again;
  });

  test('lets many slow reads at once hold up nobody', async () => {
    const database = await open({ readConnections: 2 });
    await oncePipelined(database);
    const order: string[] = [];
    const slow = numbers.slice(0, 10).map(() => sleep(database.reads, 1).then(() => order.push('slow')));
    await Promise.all(numbers.slice(0, 50).map((value) => echo(database.reads, value)));
    order.push('quick');
    await Promise.all(slow);
    expect(order[0]).toBe('quick');
  });

  test('leaves connections to all others, however many reads are slow', async () => {
    const database = await open({ connectionsMax: 4 });
    await oncePipelined(database);
    const order: string[] = [];
    const slow = numbers.slice(0, 5).map(() => sleep(database.reads, 1).then(() => order.push('slow')));
    await waitUntil(async () => (await countSlow(database.owner.db)) === 2);
    await Promise.all(numbers.slice(0, 20).map((value) => echo(database.db, value)));
    order.push('written');
    await Promise.all(slow);
    expect(order).toEqual(['written', 'slow', 'slow', 'slow', 'slow', 'slow']);
  });

  test('whose connection breaks loses no read, and comes back', async () => {
    const database = await open();
    const { pid } = await oncePipelined(database);
    const inFlight = [sleep(database.reads, 0.3), ...numbers.slice(0, 50).map((value) => echo(database.reads, value))];
    await sql`select pg_terminate_backend(${pid}::integer)`.execute(database.owner.db);
    const [slept, ...echoes] = await Promise.all(inFlight);
    expect([slept, ...echoes]).toEqual([expect.objectContaining({ rows: [{ slept: 0.3 }] }), ...numbers.slice(0, 50)]);
    expect((await oncePipelined(database)).pid).not.toBe(pid);
  });

  test('keeps away what answers with very many rows', async () => {
    const database = await open();
    await oncePipelined(database);
    const many = async () => {
      const { rows } = await sql<{ isPipelined: boolean }>`
        select current_setting('default_transaction_read_only') = 'on' as "isPipelined"
        from generate_series(1, ${5_000})`.execute(database.reads);
      return { count: rows.length, isPipelined: rows[0]!.isPipelined };
    };
    expect([await many(), await many()]).toEqual([
      { count: 5_000, isPipelined: true },
      { count: 5_000, isPipelined: false },
    ]);
  });

  test('refuses what writes, which is done once all the same, and told', async () => {
    const told: string[] = [];
    const database = await open({ onWrite: (text) => void told.push(text) });
    await oncePipelined(database);
    await sql`
      insert into accounts (email, created_at, updated_at)
      values (${'written@example.com'}, now(), now())`.execute(database.reads);
    const { rows } = await sql`select email from accounts`.execute(database.db);
    expect(rows).toEqual([{ email: 'written@example.com' }]);
    expect(told).toEqual([expect.stringContaining('insert into accounts')]);
  });

  test('is no place for a transaction or a stream', async () => {
    const { reads } = await open();
    await expect(reads.transaction().execute((db) => echo(db, 1))).rejects.toThrow('no transactions');
    await expect(reads.startTransaction().execute()).rejects.toThrow('no transactions');
    await expect(reads.selectFrom('accounts').select('email').stream().next()).rejects.toThrow('no streams');
  });

  test('is not needed', async () => {
    const { reads } = await open({ readConnections: 0 });
    expect((await placeOf(reads)).isPipelined).toBe(false);
  });
});
