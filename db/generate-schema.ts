import { readFileSync, writeFileSync } from 'node:fs';
import { sql } from 'kysely';
import { typeNames } from './column-types.ts';
import { migrate } from './migrate.ts';
import { openEmbedded } from './open-embedded.ts';

/**
 * Writes `schema.ts`, the types of all tables, from a freshly migrated database. With --check it writes nothing and
 * fails if the committed file is outdated.
 */
const target = new URL('schema.ts', import.meta.url);

type Column = { table: string; name: string; type: string; nullable: boolean; filled: 'always' | 'default' | 'never' };

async function columnsOf(): Promise<Column[]> {
  const database = await openEmbedded();
  try {
    await migrate(database.db);
    const { rows } = await sql<Column>`
      select c.relname as "table", a.attname as name, format_type(a.atttypid, null) as type,
        not a.attnotnull as nullable,
        case
          when a.attidentity = 'a' or a.attgenerated <> '' then 'always'
          when a.atthasdef then 'default'
          else 'never'
        end as filled
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid
      where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
        and a.attnum > 0 and not a.attisdropped and c.relname not like 'kysely%'
      order by c.relname, a.attnum`.execute(database.db);
    return rows;
  } finally {
    await database.close();
  }
}

function columnType(column: Column): string {
  const name = typeNames[column.type];
  if (name === undefined)
    throw new Error(`no TypeScript type is named for ${column.type} (${column.table}.${column.name})`);
  const type = column.nullable ? `${name} | null` : name;
  if (column.filled === 'always') return `GeneratedAlways<${type}>`;
  if (column.filled === 'default') return `Generated<${type}>`;
  return type;
}

function source(columns: Column[]): string {
  const byTable = Map.groupBy(columns, (column) => column.table);
  const tables = [...byTable].map(
    ([table, its]) =>
      `  ${table}: {\n${its.map((column) => `    ${column.name}: ${columnType(column)};`).join('\n')}\n  };`,
  );
  const companyTables = [...byTable]
    .filter(([, its]) => its.some((column) => column.name === 'company_id' && !column.nullable))
    .map(([table]) => `  '${table}',`);
  return `// Made by \`npm run generate\` from the migrations; do not edit.
import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely';

type Json = JSONColumnType<Record<string, unknown>>;

export type Schema = {
${tables.join('\n')}
};

/** Tables whose rows belong to a company: no statement may touch one without its company_id. */
export const companyTables: ReadonlySet<string> = new Set([
${companyTables.join('\n')}
]);
`;
}

const made = source(await columnsOf());
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== made) {
    console.error('db/schema.ts is not current: run `npm run generate` and commit the result.');
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, made);
  console.log('Wrote db/schema.ts');
}
