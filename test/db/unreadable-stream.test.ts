import { sql } from 'kysely';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openServer, type Db } from '../../db/open.ts';
import { toApiError } from '../../server/errors/errors.ts';
import { startProxy } from '../support/proxy.ts';
import { waitUntil } from '../support/waiting.ts';

const template = inject('template');
const url = template.kind === 'server' ? template.url : '';

async function open(readConnections: number) {
  const proxy = await startProxy(url, 5432);
  const database = openServer(proxy.url, { connectionsMax: 1, readConnections });
  onTestFinished(async () => {
    await database.close();
    await proxy.close();
  });
  await database.ping();
  return { database, proxy };
}

const expected = Array.from({ length: 20 }, (_, index) => ({ n: index + 1, text: 'x'.repeat(20) }));
const list = async (db: Db) =>
  (await sql`select n, repeat('x', 20) as text from generate_series(1, ${20}::integer) as n`.execute(db)).rows;

/** Bytes lost in a name of a type, in the number of columns, and in a row: the driver calls that invalid, or throws. */
const losses = [
  [1, 0],
  [1, 14],
  [2, 90],
] as const;

describe.runIf(template.kind === 'server')('an answer that loses bytes', () => {
  test.each(losses)(
    '(%i after %i) fails its statement as 503, and the next one is answered on another connection',
    async (...loss) => {
      const { database, proxy } = await open(0);
      proxy.lose(...loss);
      const failure = await list(database.db).catch((error: unknown) => error);
      expect(toApiError(failure).definition.code).toBe('SERVICE_UNAVAILABLE');
      const connections = proxy.accepted();
      expect(await list(database.db)).toEqual(expected);
      expect(proxy.accepted()).toBe(connections + 1);
    },
  );

  test.each(losses)(
    '(%i after %i) on a pipelined connection is read again elsewhere, and that connection comes back',
    async (...loss) => {
      const { database, proxy } = await open(1);
      const pipelined = async () =>
        (
          await sql<{
            way: string;
          }>`select current_setting('default_transaction_read_only') as way where ${1} = 1`.execute(database.reads)
        ).rows[0]!.way === 'on';
      await waitUntil(pipelined);
      expect(await list(database.reads)).toEqual(expected);
      const connections = proxy.accepted();
      proxy.lose(...loss);
      expect(await list(database.reads)).toEqual(expected);
      await waitUntil(pipelined);
      expect(proxy.accepted()).toBeGreaterThan(connections);
      expect(await list(database.reads)).toEqual(expected);
    },
  );
});
