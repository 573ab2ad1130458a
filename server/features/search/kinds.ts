import { z } from 'zod';
import { rule } from '../../errors/issues.ts';

/** What is searched, in the order in which equally good matches are listed. */
export const kinds = ['employee', 'project', 'task', 'comment'] as const;
export type SearchKind = (typeof kinds)[number];

const isKind = (word: string): word is SearchKind => kinds.some((kind) => kind === word);

/** One or several kinds, separated by commas; all of them if absent. */
export const kindField = z
  .string()
  .max(100)
  .default(kinds.join())
  .transform((value) => value.split(',').map((word) => word.trim()))
  .refine(
    (words) => words.every(isKind),
    rule('invalid_value', `must be one or several of ${kinds.join(', ')}, separated by commas`),
  )
  .transform((words) => words.filter(isKind))
  .meta({
    description: 'One or several of employee, project, task and comment, separated by commas',
    examples: ['task,comment'],
  });
