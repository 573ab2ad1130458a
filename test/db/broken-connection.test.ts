import { sql } from 'kysely';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openServer } from '../../db/open.ts';
import { startProxy } from '../support/proxy.ts';

const template = inject('template');

describe.runIf(template.kind === 'server')('a connection that breaks', () => {
  test('in the middle of a transaction fails that, ends no process, and is replaced', async () => {
    const proxy = await startProxy(template.kind === 'server' ? template.url : '', 5432);
    const database = openServer(proxy.url, { connectionsMax: 2 });
    onTestFinished(async () => {
      await database.close();
      await proxy.close();
    });
    const [idle, busy] = [database.begin(), database.begin()];
    for (const { db } of [idle, busy]) await sql`select 1`.execute(db);
    const statement = sql`select pg_sleep(20)`.execute(busy.db);

    proxy.cut();
    await expect(statement).rejects.toThrow('Connection terminated');
    await expect(sql`select 1`.execute(idle.db)).rejects.toThrow('not queryable');
    for (const transaction of [idle, busy]) await transaction.rollback();
    await expect(database.ping()).rejects.toThrow('ECONNRESET');

    proxy.restore();
    await Promise.all([database.ping(), database.ping(), database.ping()]);
  });
});
