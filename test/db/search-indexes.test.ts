import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/index.ts';
import { buildIndexesFirst } from '../../db/migrations/0034-search.ts';
import type { Database } from '../../db/open.ts';
import { openEmpty } from '../support/database.ts';

let database: Database;
let remove: () => Promise<void>;

beforeAll(async () => {
  const opened = await openEmpty(1, { connectionsMax: 1, readConnections: 0 });
  database = opened.databases[0]!;
  remove = opened.remove;
});
afterAll(() => remove());

test('indexes that are built before the migration are used by it, and a broken one is built again', async () => {
  const { db } = database.owner;
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  expect((await migrator.migrateTo('0032-csv-imports')).error).toBeUndefined();
  const indexesNow = async () => {
    const { rows } = await sql<{ name: string; id: number; valid: boolean }>`
      select c.relname as name, c.oid::integer as id, i.indisvalid as valid
      from pg_index as i join pg_class as c on c.oid = i.indexrelid where c.relname like '%\\_by\\_terms' order by 1`.execute(
      db,
    );
    return rows;
  };
  await buildIndexesFirst(db);
  const first = await indexesNow();
  expect(first.map(({ name, valid }) => [name, valid])).toEqual(
    ['comments', 'employees', 'projects', 'tasks'].map((table) => [`${table}_by_terms`, true]),
  );
  await sql`update pg_index set indisvalid = false where indexrelid = 'tasks_by_terms'::regclass`.execute(db);
  await buildIndexesFirst(db);
  const second = await indexesNow();
  expect(second.every(({ valid }) => valid)).toBe(true);
  expect(second.filter(({ id }, index) => id !== first[index]!.id).map(({ name }) => name)).toEqual(['tasks_by_terms']);
  expect(await migrate(db)).toContain('0034-search');
  expect(await indexesNow()).toEqual(second);
});
