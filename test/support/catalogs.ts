import type { PGlite } from '@electric-sql/pglite';

/**
 * The rows of each of PostgreSQL's own tables, and how many of them are newer than `transactionId`: schema, roles, settings
 * and statistics are as they were where these numbers are. `pg_class` is left to {@link readRelations}: truncating writes there.
 */
export async function readCatalogs(pglite: PGlite, transactionId: string): Promise<string> {
  const { rows } = await pglite.query<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and relname <> 'pg_class' order by relname`);
  const counts = rows.map(
    ({ name }) => `
      select '${name}' as name, count(*), count(*) filter (where age(xmin) < age('${transactionId}'::xid)) as newer from ${name}`,
  );
  const found = await pglite.query(counts.join(' union all '));
  return JSON.stringify(found.rows);
}

/** What `pg_class` says of each relation, without the names of files and the ages of transactions. */
export async function readRelations(pglite: PGlite): Promise<string> {
  const { rows } = await pglite.query(`
    select oid, relname, relnamespace, reltype, relowner, relam, relpages, reltuples, reltoastrelid, relhasindex, relkind,
      relpersistence, relchecks, relhasrules, relhastriggers, relrowsecurity, relforcerowsecurity, relacl::text, reloptions::text
    from pg_class order by oid`);
  return JSON.stringify(rows);
}
