import type { PGlite } from '@electric-sql/pglite';
import { readCatalogs, readRelations } from './catalogs.ts';

const logBytesMax = 64 * 1024 * 1024;

/** What a database holds before its first use. */
export type TemplateState = {
  /** Rows of the tables that are not empty, as JSON. */
  rows: Map<string, string>;
  /** The last value of each sequence; null where none was taken yet. */
  sequences: Map<string, string | null>;
  /** Sizes that the planner knows, as JSON. */
  sizes: string;
  relations: string;
  /** Transactions from this one on belong to tests. */
  transactionId: string;
  catalogs: string;
};

export async function readTemplateState(pglite: PGlite): Promise<TemplateState> {
  const rows = new Map<string, string>();
  for (const table of await readUsedTables(pglite)) rows.set(table, await readRows(pglite, table));
  const transactionId = await readValue(pglite, 'select pg_current_xact_id()::text as value');
  return {
    rows,
    sequences: await readSequences(pglite),
    sizes: await readValue(
      pglite,
      "select json_agg(json_build_object('oid', oid, 'relpages', relpages, 'reltuples', reltuples))::text as value from pg_class",
    ),
    relations: await readRelations(pglite),
    transactionId,
    catalogs: await readCatalogs(pglite, transactionId),
  };
}

/** Makes the database equal to its template again; false where it still differs, as after a change of the schema. */
export async function resetEmbedded(pglite: PGlite, template: TemplateState): Promise<boolean> {
  try {
    await endSession(pglite);
    if ((await readCatalogs(pglite, template.transactionId)) !== template.catalogs) return false;
    await resetRows(pglite, template);
    await resetSequences(pglite, template);
    await resetSizes(pglite, template);
    await freeLog(pglite);
    await pglite.query('select pg_stat_reset()');
    return (await readRelations(pglite)) === template.relations;
  } catch {
    return false;
  }
}

/** Nothing else frees the write-ahead log in a single session; a checkpoint takes a third of a reset, so not at each. */
async function freeLog(pglite: PGlite): Promise<void> {
  const bytes = await readValue(
    pglite,
    'select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::text as value from pg_control_checkpoint()',
  );
  if (Number(bytes) > logBytesMax) await pglite.exec('checkpoint');
}

async function endSession(pglite: PGlite): Promise<void> {
  await pglite.exec('rollback');
  await pglite.exec('discard all');
}

async function resetRows(pglite: PGlite, { rows }: TemplateState): Promise<void> {
  const others = (await readUsedTables(pglite)).filter((table) => !rows.has(table));
  const changed: string[] = [];
  for (const [table, stored] of rows) if ((await readRows(pglite, table)) !== stored) changed.push(table);
  if (others.length + changed.length === 0) return;
  // Triggers have nothing to say here, such as that a table is only ever added to.
  await pglite.exec('set session_replication_role = replica');
  await pglite.exec(`truncate ${[...others, ...changed].join(', ')} cascade`);
  for (const table of changed) {
    const stored = `select * from json_populate_recordset(null::${table}, $1)`;
    await pglite.query(`insert into ${table} overriding system value ${stored}`, [rows.get(table)]);
  }
  await pglite.exec('reset session_replication_role');
}

async function resetSequences(pglite: PGlite, { sequences }: TemplateState): Promise<void> {
  for (const [name, last] of await readSequences(pglite)) {
    const before = sequences.get(name);
    if (before === last) continue;
    await pglite.query('select setval($1::regclass, coalesce($2::bigint, 1), $2 is not null)', [name, before]);
  }
}

async function resetSizes(pglite: PGlite, { sizes }: TemplateState): Promise<void> {
  await pglite.query(
    `update pg_class as c set relpages = t.relpages, reltuples = t.reltuples
    from json_to_recordset($1) as t (oid oid, relpages int, reltuples real)
    where c.oid = t.oid and (c.relpages, c.reltuples) is distinct from (t.relpages, t.reltuples)`,
    [sizes],
  );
}

/** Tables that have a page: a row was stored, if only by a transaction that was rolled back. */
async function readUsedTables(pglite: PGlite): Promise<string[]> {
  const { rows } = await pglite.query<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0 order by relname`);
  return rows.map(({ name }) => name);
}

const readRows = (pglite: PGlite, table: string): Promise<string> =>
  readValue(pglite, `select coalesce(json_agg(t order by t::text), '[]')::text as value from ${table} as t`);

async function readSequences(pglite: PGlite): Promise<Map<string, string | null>> {
  const { rows } = await pglite.query<{ name: string; last: string | null }>(
    'select sequencename as name, last_value::text as last from pg_sequences',
  );
  return new Map(rows.map(({ name, last }) => [name, last]));
}

async function readValue(pglite: PGlite, query: string): Promise<string> {
  const { rows } = await pglite.query<{ value: string }>(query);
  return rows[0]!.value;
}
