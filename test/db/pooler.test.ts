import { sql } from 'kysely';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { openServer } from '../../db/open.ts';
import { sharesSessions } from '../../db/pooler.ts';
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { endAllProcesses, makeHome, runToEnd, startProcess } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { runOn } from '../support/template.ts';
import { waitUntil } from '../support/waiting.ts';

const template = inject('template');
const isRun = template.kind === 'server' && hasPgBouncer;

afterAll(endAllProcesses);

const same = (ini: string): string => ini;

/** A database of its own, and PgBouncer in front of it. */
async function startBehindPgBouncer({ isNew = false, edit = same } = {}) {
  const home = await makeHome({ isNew });
  const direct = home.databaseUrl!;
  const pooler = await startPgBouncer(direct, edit);
  onTestFinished(async () => {
    await endAllProcesses();
    await pooler.close();
    await home.remove();
  });
  const settings = { DATA_DIR: home.folder, DATABASE_URL: pooler.url, LOG_LEVEL: 'warn' };
  return { direct, url: pooler.url, settings, pooled: { ...settings, DATABASE_POOLER: 'transaction' } };
}

/** As an operator who has read what session mode needs. */
const passingOver = (ini: string): string =>
  ini.replace('extra_float_digits', 'options, statement_timeout, lock_timeout, idle_in_transaction_session_timeout');

describe.runIf(isRun)('behind PgBouncer in transaction mode', () => {
  test.each([
    ['refuses parameters', same],
    ['passes over parameters', passingOver],
  ])('that %s a start without DATABASE_POOLER ends with a sentence that names it', async (_, edit) => {
    const { settings } = await startBehindPgBouncer({ edit });
    const { code, stderr } = await runToEnd(settings);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^A pooler in transaction mode answers at 127\.0\.0\.1:\d+\/\w+: set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to the server itself\.\n$/,
      ),
    });
  });

  test('a start ends where the pooler sets nothing for its sessions, with the settings that are missing', async () => {
    const { pooled } = await startBehindPgBouncer({ edit: (ini) => ini.replace(/ connect_query='.*'/, '') });
    const { stderr } = await runToEnd(pooled);
    expect(stderr).toMatch(
      /^The sessions behind the pooler at \S+ lack settings: add to connect_query .*set jit to off;/,
    );
    expect(stderr).toContain('set statement_timeout to 30000; set lock_timeout to 10000;');
  });

  test('a start ends where migrations are pending and there is no way to the server itself', async () => {
    const { pooled } = await startBehindPgBouncer({ isNew: true });
    for (const program of ['server/main.ts', 'server/commands/migrate.ts'])
      expect(await runToEnd(pooled, [process.execPath, program])).toMatchObject({
        code: 1,
        stderr:
          'The database lacks migrations, and they take a lock that a pooler in transaction mode cannot keep: set DATABASE_DIRECT_URL to the server itself.\n',
      });
  });

  test('a start with DATABASE_POOLER where the server itself answers goes on without the setting, and says so', async () => {
    const { direct, pooled } = await startBehindPgBouncer({ isNew: true });
    const service = await startProcess({ ...pooled, DATABASE_URL: direct, SEED_DEMO: 'false' });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(service.stdout()).toContain('DATABASE_POOLER is set, but the server itself answers');
  });

  test('a new database is migrated directly, and requests are served through the pooler with the right settings', async () => {
    const { direct, url, pooled } = await startBehindPgBouncer({ isNew: true });
    await runOn(direct, `alter database ${new URL(direct).pathname.slice(1)} set timezone to 'Asia/Kathmandu'`);
    const service = await startProcess({ ...pooled, DATABASE_DIRECT_URL: direct });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);

    const database = openServer(url, { isPooled: true, directUrl: direct, connectionsMax: 4 });
    onTestFinished(() => database.close());
    const asked = Array.from({ length: 12 }, () =>
      sql<object>`select current_setting('timezone') as zone, current_setting('jit') as jit,
        current_setting('statement_timeout') as timeout where ${1} = 1`.execute(database.db),
    );
    for (const { rows } of await Promise.all(asked))
      expect(rows).toEqual([{ zone: 'UTC', jit: 'off', timeout: '30s' }]);
    const advisory = await sql`select from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`.execute(database.db);
    expect(advisory.rows).toEqual([]);
  });

  test('a server that goes away costs 503 answers, and is used again soon after it is back', async () => {
    const home = await makeHome();
    const proxy = await startProxy(home.databaseUrl!, 5432);
    const pooler = await startPgBouncer(proxy.url);
    onTestFinished(async () => {
      await endAllProcesses();
      await pooler.close();
      await proxy.close();
      await home.remove();
    });
    const service = await startProcess({
      DATA_DIR: home.folder,
      DATABASE_URL: pooler.url,
      DATABASE_POOLER: 'transaction',
      DATABASE_DIRECT_URL: proxy.url,
      SEED_DEMO: 'false',
    });
    const signIn = async () => {
      const begun = performance.now();
      const body = JSON.stringify({ email: 'ada@example.com', password: 'a password' });
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(`${service.url}/login/`, { method: 'POST', body, headers });
      return { status, isInTime: performance.now() - begun < 12_000 };
    };
    expect(await signIn()).toEqual({ status: 401, isInTime: true });
    for (const takeAway of [proxy.cut, proxy.freeze]) {
      takeAway();
      expect(await signIn()).toEqual({ status: 503, isInTime: true });
      proxy.restore();
      const begun = performance.now();
      await waitUntil(async () => (await signIn()).status === 401, { interval: 100 });
      expect(performance.now() - begun).toBeLessThan(10_000);
    }
  });

  test('sessions are found to be shared, and those of the server itself and of session mode not', async () => {
    const { direct, url } = await startBehindPgBouncer();
    expect(await sharesSessions(url)).toBe(true);
    expect(await sharesSessions(direct)).toBe(false);
    const bySession = await startPgBouncer(direct, (ini) =>
      ini.replace('pool_mode = transaction', 'pool_mode = session'),
    );
    onTestFinished(() => bySession.close());
    expect(await sharesSessions(bySession.url)).toBe(false);
  });
});
