import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf, searchText } from '../../kernel/wire/fields.ts';
import { toEmployee } from './queries.ts';
import { besideThePerson, Employee } from './schemas.ts';
import { selectMatches } from './select-matches.ts';

const resultsMax = 50;

export const searchEmployees = member('people')
  .meta(
    rest('GET /employees/search/{company_id}/', {
      section: 'Employees',
      summary: 'Search employees by name, e-mail or designation',
      description:
        'Every word of `q` must occur in the name, the address or the designation: anywhere in it, or at the beginning of a word where it has one or two letters; Chinese, Japanese, Korean and other scripts without spaces match anywhere. Case and accents do not count. At most 50, active and inactive but not deleted, the best match first: the very name, names that begin with `q`, words that do, other places; within these by name.',
      example: { company_id: 1, q: 'grace hop' },
      tool: { name: 'people', when: 'q', leavesOut: besideThePerson },
    }),
  )
  .input(z.object({ company_id: idOf('company'), q: searchText.meta({ examples: ['grace hop'] }) }))
  .output(z.object({ employees: z.array(Employee) }))
  .query(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    if (input.company_id !== caller.companyId) throw NOT_FOUND();
    const rows = await selectMatches(db, caller.companyId, input.q).limit(resultsMax).execute();
    return { employees: rows.map((row) => toEmployee(row, caller, services.settings)) };
  });
