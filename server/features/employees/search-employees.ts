import { sql } from 'kysely';
import { z } from 'zod';
import { NOT_FOUND } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { id, text } from '../../kernel/wire.ts';
import { foldForSearch, selectEmployees, toEmployee } from './queries.ts';
import { Employee } from './schemas.ts';

const resultsMax = 50;

export const searchEmployees = member
  .meta(
    rest('GET /employees/search/{company_id}/', {
      section: 'Employees',
      summary: 'Search employees by name, e-mail or designation',
      description:
        'Every word of `q` must occur in the name, the address or the designation: anywhere in it, or at the beginning of a word where it has one or two letters. Case and accents do not count. At most 50, active and inactive but not deleted, the best match first: the very name, names that begin with `q`, words that do, other places; within these by name.',
      example: { company_id: 1, q: 'grace hop' },
    }),
  )
  .input(z.object({ company_id: id, q: text({ max: 200 }).meta({ examples: ['grace hop'] }) }))
  .output(z.object({ employees: z.array(Employee) }))
  .query(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    if (input.company_id !== caller.companyId) throw NOT_FOUND();
    const folded = foldForSearch(input.q);
    if (folded === '') return { employees: [] };
    const [first, second, ...others] = patternsOf(folded);
    const beginnings = folded.split(' ').map((word) => `% ${escapeLike(word)}%`);

    const rows = await selectEmployees(db, caller.companyId)
      .where('is_deleted', '=', false)
      // The index takes single patterns only. Two of them narrow enough, and the statement stays the same.
      .where('search_text', 'like', first!)
      .where('search_text', 'like', second ?? first!)
      .where(sql<boolean>`search_text like all (${others}::text[])`)
      .orderBy(
        // search_text begins with a space, the name, a space and the address.
        sql`case when starts_with(search_text, ' ' || ${folded} || ' ' || email) then 0
          when starts_with(search_text, ' ' || ${folded}) then 1
          when search_text like all (${beginnings}::text[]) then 2
          else 3 end`,
      )
      .orderBy(sql`search_text collate "C"`)
      .orderBy('employee_id')
      .limit(resultsMax)
      .execute();
    return { employees: rows.map((row) => toEmployee(row, caller, services.settings)) };
  });

/** A pattern for each word, those that narrow most first. The index knows three letters, or the beginning of a word. */
function patternsOf(folded: string): string[] {
  const words = [...new Set(folded.split(' '))].toSorted((a, b) => b.length - a.length);
  return words.map((word) => (Array.from(word).length >= 3 ? `%${escapeLike(word)}%` : `% ${escapeLike(word)}%`));
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`);
}
