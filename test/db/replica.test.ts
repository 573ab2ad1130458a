import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { openServer, type Database, type Db } from '../../db/open.ts';
import { atEndOfFile } from '../support/file-end.ts';
import { makeHome } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { runOn } from '../support/template.ts';
import { waitUntil } from '../support/waiting.ts';

/*
 * A second database of the same server plays the standby: it has functions of its own in place of those that ask a standby how
 * far it is, and rows of its own, by which one sees who answered.
 */

const isServer = inject('template').kind === 'server';
const [companyId, neighbourId] = [1, 2];
let urls: { primary: string; standby: string };

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

/** What the standby says of itself. */
async function say(
  state: { isStandby?: boolean; lsn?: string; timeline?: number; database?: string } = {},
): Promise<void> {
  const { isStandby = true, lsn = 'FFFFFFFF/FFFFFFFF', timeline = 1, database } = state;
  const name = database ?? nameOf(urls.primary);
  await runOn(
    urls.standby,
    `update standby.state set is_standby = ${isStandby}, lsn = '${lsn}', timeline = ${timeline}, name = '${name}'`,
  );
}

const playsStandby = `
  create schema standby;
  create table standby.state as
    select true as is_standby, '0/0'::pg_lsn as lsn, 1 as timeline, 'none'::name as name;
  create function standby.pg_is_in_recovery() returns boolean language sql as 'select is_standby from standby.state';
  create function standby.pg_last_wal_replay_lsn() returns pg_lsn language sql as 'select lsn from standby.state';
  create function standby.current_database() returns name language sql as 'select name from standby.state';
  create function standby.pg_control_checkpoint() returns table (timeline_id integer)
    language sql as 'select timeline from standby.state';
  create function fails(code text) returns text language plpgsql as $$
    begin raise exception 'canceling statement due to conflict with recovery' using errcode = code; end $$`;

/** A company of each, whose names say whose rows they are. */
const rowsOf = (server: string): string => `
  insert into companies (company_id, name, timezone, referral_code, created_at, updated_at) overriding system value
  select id, '${server} ' || id, 'UTC', 'code ' || id, now(), now() from (values (${companyId}), (${neighbourId})) as company (id)`;

beforeAll(async () => {
  if (!isServer) return;
  const [primary, standby] = await Promise.all([makeHome(), makeHome()]);
  atEndOfFile(async () => void (await Promise.all([primary.remove(), standby.remove()])));
  urls = { primary: primary.databaseUrl!, standby: standby.databaseUrl! };
  await runOn(urls.primary, `${rowsOf('primary')}; create function fails(code text) returns text return 'primary'`);
  const name = nameOf(urls.standby);
  await runOn(urls.standby, `${rowsOf('standby')}; ${playsStandby}`);
  await runOn(urls.standby, `alter database ${name} set search_path = standby, pg_catalog, public`);
});
beforeEach(async () => {
  if (isServer) await say();
});

type Opened = Database & { writes: string[]; told: string[]; isUsed(): Promise<void> };

async function open({ lagMaxMs = 500, url = urls.standby } = {}): Promise<Opened> {
  const [writes, told]: [string[], string[]] = [[], []];
  const onChange = (obstacle: string | undefined) => void told.push(obstacle ?? 'used');
  const database = openServer(urls.primary, {
    rowSecurity: true,
    connectionsMax: 4,
    onWrite: (text) => void writes.push(text),
    replica: { url, lagMaxMs, onChange },
  });
  onTestFinished(() => database.close());
  await database.replica!.checked;
  const isUsed = () => waitUntil(() => database.replica!.state().obstacle === undefined) as Promise<never>;
  return { ...database, writes, told, isUsed };
}

/** The companies that a handle sees, by the server that answered. */
async function namesSeenBy(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('companies')
    .select('name')
    .where('company_id', '<', 1_000)
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
}

const ofOne = ({ forCompany }: Database): Promise<string[]> => namesSeenBy(forCompany(companyId).longReads);
const fails = async (db: Db, code: string): Promise<string> =>
  (await sql<{ server: string }>`select fails(${code}) as server`.execute(db)).rows[0]!.server;

describe.runIf(isServer)('a read replica', () => {
  test('takes long reads within their company, and nothing else', async () => {
    const database = await open();
    const { forCompany, acrossCompanies, owner, replica } = database;
    expect(await ofOne(database)).toEqual(['standby 1']);
    expect(await namesSeenBy(forCompany(neighbourId).longReads)).toEqual(['standby 2']);
    expect(await namesSeenBy(database.longReads)).toEqual([]);
    expect(await namesSeenBy(acrossCompanies.longReads)).toEqual(['standby 1', 'standby 2']);
    expect(await namesSeenBy(forCompany(companyId).reads)).toEqual(['primary 1']);
    expect(await namesSeenBy(owner.db)).toEqual(['primary 1', 'primary 2']);
    expect(replica!.state()).toEqual({
      obstacle: undefined,
      lagMs: expect.any(Number),
      reads: { replica: 4, primary: 0 },
    });
    expect(database.told).toEqual(['used']);
  });

  test('runs its statements read-only, in UTC and with the limits of the primary', async () => {
    const { owner } = await open();
    const settingsOf = async (db: Db) => {
      const names = ['TimeZone', 'jit', 'statement_timeout', 'lock_timeout', 'default_transaction_read_only'];
      const { rows } = await sql<{ setting: string }>`
        select current_setting(name) as setting from unnest(${names}::text[]) with ordinality as n (name, place)
        order by place`.execute(db);
      return rows.map(({ setting }) => setting);
    };
    const limits = ['UTC', 'off', '30s', '10s'];
    expect(await settingsOf(owner.longReads)).toEqual([...limits, 'on']);
    expect(await settingsOf(owner.db)).toEqual([...limits, 'off']);
  });

  test('that lacks what was stored before a read does not answer it', async () => {
    const database = await open({ lagMaxMs: 50 });
    await say({ lsn: '0/1' });
    expect(await ofOne(database)).toEqual(['primary 1']);
    expect(database.replica!.state().obstacle).toBe('is late');
    await say();
    await database.isUsed();
    expect(await ofOne(database)).toEqual(['standby 1']);
    expect(database.told).toEqual(['used', 'is late', 'used']);
  });

  test('that is a little late is waited for', async () => {
    const database = await open({ lagMaxMs: 10_000 });
    await say({ lsn: '0/1' });
    const asked = ofOne(database);
    await waitUntil(() => database.replica!.state().lagMs! > 50);
    await say();
    expect(await asked).toEqual(['standby 1']);
    expect(database.told).toEqual(['used']);
  });

  test.each([
    ['is no standby', { isStandby: false }],
    ['is on another timeline', { timeline: 2 }],
    ['is of another database', { database: 'another' }],
  ])('that %s is not used until it is in order', async (obstacle, state) => {
    const database = await open();
    await say(state);
    expect(await ofOne(database)).toEqual(['primary 1']);
    expect(database.replica!.state().obstacle).toBe(obstacle);
    await say();
    await database.isUsed();
    expect(await ofOne(database)).toEqual(['standby 1']);
  });

  test.each(['40001', '57P01', '25006', '40P01'])(
    'that ends a statement with %s leaves it to the primary',
    async (code) => {
      const { owner, writes, replica } = await open();
      expect(await fails(owner.longReads, code)).toBe('primary');
      expect(replica!.state()).toMatchObject({ obstacle: undefined, reads: { replica: 0, primary: 1 } });
      expect(writes).toHaveLength(code === '25006' ? 1 : 0);
    },
  );

  test('that ends a statement at its time limit does not make the primary spend as much', async () => {
    const { owner } = await open();
    await expect(fails(owner.longReads, '57014')).rejects.toMatchObject({ code: '57014' });
  });

  test('that goes away amid a statement costs no answer, and is used again when it is back', async () => {
    const proxy = await startProxy(urls.standby, 5432);
    onTestFinished(() => proxy.close());
    const database = await open({ url: proxy.url });
    // Its connections, of which all but one are idle then.
    await Promise.all([ofOne(database), ofOne(database)]);
    const asked = sql<{
      name: string;
    }>`select name from companies, pg_sleep(${1}) where company_id = ${companyId}`.execute(database.owner.longReads);
    const isRunning = async () => {
      const { rows } = await sql`
        select from pg_stat_activity where datname = ${nameOf(urls.standby)} and state = 'active'`.execute(
        database.owner.db,
      );
      return rows.length > 0;
    };
    await waitUntil(isRunning);
    proxy.cut();
    expect((await asked).rows).toEqual([{ name: 'primary 1' }]);
    expect(await ofOne(database)).toEqual(['primary 1']);
    const isAway = () => database.replica!.state().obstacle === 'does not answer';
    await waitUntil(isAway);
    expect(database.replica!.state().lagMs).toBe(undefined);
    proxy.restore();
    await database.isUsed();
    expect(await ofOne(database)).toEqual(['standby 1']);
  });

  test('that is away at the start delays nothing', async () => {
    const proxy = await startProxy(urls.standby, 5432);
    onTestFinished(() => proxy.close());
    proxy.cut();
    const database = await open({ url: proxy.url });
    expect(await ofOne(database)).toEqual(['primary 1']);
    expect(database.told).toEqual(['does not answer']);
  });
});
