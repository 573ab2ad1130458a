import { sql, type SelectQueryBuilder } from 'kysely';
import type { Given } from './compiled.ts';

/**
 * Cuts one page out of a list, for `$call`. Its size stands in the text, and the first page skips nothing: as parameters
 * both could be anything, so PostgreSQL would plan each page anew, which takes longer than to run it.
 */
export function cutPage({ size, skipped }: { size: number; skipped: Given<number> }) {
  return <DB, Tables extends keyof DB, Row>(query: SelectQueryBuilder<DB, Tables, Row>) => {
    const first = query.limit(sql.lit(size));
    return skipped === 0 ? first : first.offset(skipped);
  };
}
