import { z } from 'zod';
import { NOT_FOUND, notFoundIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf, searchText } from '../../kernel/wire/fields.ts';
import { isProject } from '../projects/queries.ts';
import { candidatesMax } from './candidates.ts';
import { cursorOf, readPlace, searchCursor } from './cursor.ts';
import { readDocuments } from './documents.ts';
import { kindField } from './kinds.ts';
import { findMatches } from './matches.ts';
import { SearchPage } from './schemas.ts';
import { showResult } from './show-result.ts';
import { readQuery } from './terms.ts';

const limitMax = 100;

export const searchCompany = member(['tasks', 'projects', 'comments', 'people'])
  .meta(
    rest('GET /api/search/company/{company_id}/', {
      section: 'Additions',
      summary: 'Search tasks, projects, comments and people',
      description: `The best matches first. Every word of \`q\` must begin a word of the title or the text, without regard to case and accents; Chinese, Japanese, Korean and other scripts without spaces match anywhere. Where fewer than ten things match, words of four letters or more may have one slip. The newest ${candidatesMax} matches of each kind are ranked, and the newest ${candidatesMax} in titles. Deleted things and people are not found. \`cursor\` is the \`nextCursor\` of the page before; what is added after the first page is not on later ones. See [the guide](/docs/guides/search).`,
      example: { q: 'gear draw', kind: 'task,comment' },
      tool: { name: 'search', hides: ['limit'], leavesOut: ['ranges'] },
    }),
  )
  .input(
    z.object({
      company_id: idOf('company'),
      q: searchText.meta({ examples: ['gear draw'] }),
      kind: kindField,
      project_id: idOf('project').optional(),
      limit: z.int().min(1).max(limitMax).default(20).meta({ description: 'How many results a page has' }),
      cursor: searchCursor,
    }),
  )
  .output(SearchPage)
  .query(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    const { project_id: projectId, limit } = input;
    if (input.company_id !== companyId) throw NOT_FOUND();
    if (projectId !== undefined && !(await isProject(db, companyId, projectId))) throw notFoundIn('project_id');
    const after = readPlace(input.cursor);
    const scope = { companyId, kinds: input.kind, projectId, upTo: after?.upTo };
    const matches = await findMatches(db, scope, readQuery(input.q), after?.place);
    const page = matches.ranked.slice(0, limit);
    const documents = await readDocuments(db, companyId, page);
    return {
      results: page.flatMap((row) => showResult(row, documents, matches)),
      nextCursor: matches.ranked.length > limit ? cursorOf(page.at(-1)!.place, matches.upTo) : null,
    };
  });
