import { createQueryId, PostgresQueryCompiler, type KyselyPlugin } from 'kysely';
import { companyTables } from '../../db/schema.ts';

/** A statement that could reach into another company. */
export class UnscopedStatement extends Error {
  override name = 'UnscopedStatement';
}

const compiler = new PostgresQueryCompiler();
const tableUse =
  /\b(?:from|join|into|update|using)\s+"?(\w+)"?(?:\s+(?:as\s+)?"?(?!where\b|set\b|on\b|join\b|left\b|inner\b|cross\b|order\b|group\b|values\b|returning\b|limit\b|select\b|using\b|for\b|default\b|union\b)(\w+)"?)?/gi;

/** Refuses any statement on a company's table that is not scoped by that table's company_id. */
export const tenancyGuard: KyselyPlugin = {
  transformQuery({ node }) {
    refuseUnscoped(compiler.compileQuery(node, createQueryId()).sql);
    return node;
  },
  transformResult: async ({ result }) => result,
};

export function refuseUnscoped(sql: string): void {
  // What a statement answers does not scope it.
  const scoping = sql
    // A company that is being made has no identifier yet.
    .replaceAll(/\binsert into "?companies"?/gi, '')
    .replaceAll(/\bselect\s[^()]*?\sfrom\b/gi, 'select from')
    .replaceAll(/\breturning\s[^()]*$/gi, '');
  for (const [, table = '', alias] of scoping.matchAll(tableUse)) {
    if (!companyTables.has(table)) continue;
    const qualified = new RegExp(`"?\\b${alias ?? table}"?\\."?company_id\\b`);
    const bare = /(?<!\.)"?\bcompany_id\b/;
    if (!qualified.test(scoping) && !bare.test(scoping)) {
      throw new UnscopedStatement(`${table} is touched without its company_id: ${sql.slice(0, 400)}`);
    }
  }
}
