import { z } from 'zod';
import { nextCursor } from '../../kernel/wire/cursor.ts';
import { id } from '../../kernel/wire/fields.ts';
import { kinds } from './kinds.ts';

const Range = z.object({
  start: z.int().meta({ description: 'The first code unit', examples: [0] }),
  end: z.int().meta({ description: 'The first code unit after it', examples: [4] }),
});

const MarkedText = z
  .object({
    text: z.string().meta({ description: 'Plain text, not HTML', examples: ['Gear drawings'] }),
    ranges: z.array(Range).meta({
      description:
        'What matches: places in `text` in UTF-16 code units, as JavaScript counts, in order and without overlaps',
    }),
  })
  .meta({ id: 'MarkedText' });

const SearchResult = z
  .object({
    kind: z.enum(kinds).meta({ description: 'What was found' }),
    _id: id.clone().meta({ description: 'Of the employee, project, task or comment' }),
    title: MarkedText.clone().meta({ description: 'Its name or title; of a comment the title of its task' }),
    excerpt: MarkedText.nullable().meta({
      description:
        'At most about 160 characters around the first match in its description or message, or in the designation and address of an employee, with `…` where it is cut; null if only the title matches',
    }),
    projectId: id.nullable().meta({ description: 'Of a project, a task or a comment' }),
    taskId: id.nullable().meta({ description: 'Of a task or a comment' }),
  })
  .meta({ id: 'SearchResult' });

export const SearchPage = z.object({
  results: z.array(SearchResult).meta({ description: 'The best matches first' }),
  nextCursor,
});
