import { sql, type Expression, type SqlBool } from 'kysely';

/** A LIKE pattern for a literal text anywhere in another one: its wildcards are escaped. */
export function anywhere(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** Whether a column contains a literal text, without regard to case. */
export function containsText(column: Expression<string>, text: string): Expression<SqlBool> {
  return sql<SqlBool>`lower(${column}) like lower(${anywhere(text)})`;
}
