import { sql, type Expression, type SqlBool } from 'kysely';

/** A LIKE pattern for a literal text anywhere in another one: its wildcards are escaped. */
export function anywhere(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** Whether an index of trigrams has a part of the text: three letters in a row, or the beginning of a word. Without one all of it is read. */
export const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}|[^\p{L}\p{N}][\p{L}\p{N}]/u.test(text);

/** Whether a column contains a literal text, without regard to case. */
export function containsText(column: Expression<string>, text: string): Expression<SqlBool> {
  return sql<SqlBool>`lower(${column}) like lower(${anywhere(text)})`;
}
