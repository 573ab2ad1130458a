import { sql, type SelectQueryBuilder } from 'kysely';
import type { ValueOrPlaceholder } from './compiled.ts';

type Page = {
  size: number;
  offset: ValueOrPlaceholder<number>;
  /** Whether only the company, or the person, decides what is in the list. */
  isUnfiltered: boolean;
};

/**
 * Selects one page of a list, for `$call`. The first page of an unfiltered list has its size in the text and no offset:
 * with both as parameters PostgreSQL would plan each run again, which takes longer than running it. A filter may match
 * few rows, so filtered lists are planned by their values.
 */
export function paginate({ size, offset, isUnfiltered }: Page) {
  return <DB, Tables extends keyof DB, Row>(query: SelectQueryBuilder<DB, Tables, Row>) =>
    isUnfiltered && offset === 0 ? query.limit(sql.lit(size)) : query.limit(size).offset(offset);
}
