import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { anywhere, hasTrigram } from '../../../db/pipeline/anywhere.ts';
import { foldForSearch, selectEmployees } from './queries.ts';

/** Scripts without spaces between words, in which one letter is a word or a syllable. */
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Mymr}\p{scx=Khmr}]/u;

/**
 * The employees of a company whose name, address or designation contain every word of `q`, the best match first.
 * `search_text` begins with a space, the name, a space and the address, so a pattern that begins with a space finds
 * beginnings of words. Words of one or two letters match there only, because the index has no shorter substrings, except
 * those of scripts without spaces: they are looked for in all employees of the company.
 */
export function selectMatches(db: Db, companyId: number, q: string) {
  const folded = foldForSearch(q);
  const words = [...new Set(folded.split(' '))].filter((word) => word !== '');
  const beginnings = words.map((word) => ` ${word}`);
  // The longest words are the most selective.
  const wanted = words
    .map((word) => (Array.from(word).length >= 3 || unspaced.test(word) ? word : ` ${word}`))
    .toSorted((a, b) => b.length - a.length);
  const indexed = wanted.filter(hasTrigram).slice(0, 2);
  const [first, second = first] = indexed.map(anywhere);
  const others = wanted.filter((part) => !indexed.includes(part)).map(anywhere);

  return (
    selectEmployees(db, companyId)
      .where('is_deleted', '=', false)
      // The index supports single patterns only; with always two of them the statement text is constant.
      .$if(first !== undefined, (some) =>
        some.where('search_text', 'like', first!).where('search_text', 'like', second!),
      )
      .where(sql<boolean>`search_text like all (${others}::text[])`)
      .where(sql<boolean>`${words.length > 0}`)
      .orderBy(
        sql`case when starts_with(search_text, ' ' || ${folded} || ' ' || email) then 0
          when starts_with(search_text, ' ' || ${folded}) then 1
          when search_text like all (${beginnings.map(anywhere)}::text[]) then 2
          else 3 end`,
      )
      .orderBy(sql`search_text collate "C"`)
      .orderBy('employee_id')
  );
}
