import { sql, type SelectQueryBuilder } from 'kysely';
import type { Given } from './compiled.ts';

type Cut = {
  size: number;
  skipped: Given<number>;
  /** Whether nothing but the company, or the person, says what is in the list. */
  isWhole: boolean;
};

/**
 * Cuts one page out of a list, for `$call`. On the first page of a whole list its size stands in the text and nothing is
 * skipped: as parameters both could be anything, so PostgreSQL would plan each page anew, which takes longer than to run it.
 * What matches a filter may be rare: that is planned by its values.
 */
export function cutPage({ size, skipped, isWhole }: Cut) {
  return <DB, Tables extends keyof DB, Row>(query: SelectQueryBuilder<DB, Tables, Row>) =>
    isWhole && skipped === 0 ? query.limit(sql.lit(size)) : query.limit(size).offset(skipped);
}
