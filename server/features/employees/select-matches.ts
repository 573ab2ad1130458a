import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { foldForSearch, selectEmployees } from './queries.ts';

/**
 * The employees of a company in whose name, address or designation every word of `q` occurs, the best match first.
 * `search_text` begins with a space, the name, a space and the address, so a pattern that begins with a space
 * finds beginnings of words. Words of one or two letters are sought there only: the index knows no shorter middle.
 */
export function selectMatches(db: Db, companyId: number, q: string) {
  const folded = foldForSearch(q);
  const words = [...new Set(folded.split(' '))].filter((word) => word !== '');
  // The longest narrow most.
  const [first, second, ...others] = words
    .toSorted((a, b) => b.length - a.length)
    .map((word) => (Array.from(word).length >= 3 ? `%${escapeLike(word)}%` : `% ${escapeLike(word)}%`));
  const beginnings = words.map((word) => `% ${escapeLike(word)}%`);

  return (
    selectEmployees(db, companyId)
      .where('is_deleted', '=', false)
      // The index takes single patterns only; with always two of them the statement stays the same.
      .where('search_text', 'like', first ?? noMatch)
      .where('search_text', 'like', second ?? first ?? noMatch)
      .where(sql<boolean>`search_text like all (${others}::text[])`)
      .orderBy(
        sql`case when starts_with(search_text, ' ' || ${folded} || ' ' || email) then 0
          when starts_with(search_text, ' ' || ${folded}) then 1
          when search_text like all (${beginnings}::text[]) then 2
          else 3 end`,
      )
      .orderBy(sql`search_text collate "C"`)
      .orderBy('employee_id')
  );
}

/** For a `q` of nothing but accents: an empty text, which no row has. */
const noMatch = '';

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`);
}
