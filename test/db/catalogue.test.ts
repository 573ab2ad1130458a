import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { catalogue, isReference } from '../../db/catalogue.ts';
import { openClone } from '../support/database.ts';
import { atEndOfFile } from '../support/file-end.ts';

const database = await openClone();
atEndOfFile(() => database.close());

const labelled = Object.entries(catalogue).flatMap(([table, { columns }]) =>
  Object.entries(columns).map(([column, label]) => ({ table, column, label })),
);

test('has every column of the database, and no other', async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and table_name not like 'kysely%'`.execute(database.owner.db);
  expect(labelled.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(
    rows.map(({ name }) => name).toSorted(),
  );
});

test('calls the columns that refer to another table by that table', async () => {
  const { rows } = await sql<{ table: string; column: string; to: string }>`
    select r.relname as "table", a.attname as "column", t.relname as "to"
    from pg_constraint as f join pg_class as r on r.oid = f.conrelid join pg_class as t on t.oid = f.confrelid
    -- The last column of a key is the one beside the company.
    join pg_attribute as a on a.attrelid = r.oid and a.attnum = f.conkey[cardinality(f.conkey)]
    where f.contype = 'f' and r.relnamespace = 'public'::regnamespace`.execute(database.owner.db);
  const labelOf = (table: string, column: string) =>
    labelled.find((one) => one.table === table && one.column === column)!.label;
  const wrong = rows.filter(({ table, column, to }) => {
    const label = labelOf(table, column);
    return isReference(label) && label.table !== to;
  });
  expect(wrong).toEqual([]);
});

test('is what the page on personal data lists', async () => {
  const page = await readFile(new URL('../../docs/personal-data.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names]) => names!.match(/\w+/g)!);
  const personal = labelled.filter(({ label }) => label === 'personal').map(({ table }) => table);
  const encrypted = ['idempotent_answers', 'mention_mails', 'invitation_mails'];
  expect(listed.toSorted()).toEqual([...new Set([...personal, ...encrypted])].toSorted());
});
