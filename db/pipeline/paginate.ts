import { sql, type SelectQueryBuilder } from 'kysely';
import type { ValueOrPlaceholder } from './compiled.ts';

type Page = {
  size: number;
  offset: ValueOrPlaceholder<number>;
  /** Whether nothing but the company, or the person, says what is in the list. */
  isUnfiltered: boolean;
};

/**
 * Takes one page of a list, for `$call`. The first page of an unfiltered list has its size in the text and no offset: as
 * parameters both could be anything, so PostgreSQL would plan each run again, which takes longer than to run it. What matches
 * a filter may be rare: that is planned by its values.
 */
export function paginate({ size, offset, isUnfiltered }: Page) {
  return <DB, Tables extends keyof DB, Row>(query: SelectQueryBuilder<DB, Tables, Row>) =>
    isUnfiltered && offset === 0 ? query.limit(sql.lit(size)) : query.limit(size).offset(offset);
}
