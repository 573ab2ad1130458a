import { z } from 'zod';
import { readCursor, toCursor } from '../../kernel/wire/cursor.ts';
import { kinds, type SearchKind } from './kinds.ts';
import type { Place } from './rank.ts';

/* The cursor of a search: the place of the last result, and the last row of each kind that its first page could find. */

export const searchCursor = z
  .string()
  .max(150)
  .meta({ description: 'The `nextCursor` of the page before', examples: ['NC4zLjJyLjEuMS4yLjJy'] })
  .optional();

/** Numbers are written to the base 36, which keeps the address of a page short. */
const number = z
  .string()
  .regex(/^[0-9a-z]{1,10}$/)
  .transform((text) => Number.parseInt(text, 36));
const position = z.tuple([number, number, number, number, number, number, number]);

export function cursorOf({ tier, kind, id }: Place, upTo: Record<SearchKind, number>): string {
  return toCursor(...[tier, kind, id, ...kinds.map((one) => upTo[one])].map((part) => part.toString(36)));
}

export function readPlace(cursor: string | undefined): { place: Place; upTo: Record<SearchKind, number> } | undefined {
  const read = readCursor(cursor, position);
  if (!read) return undefined;
  const [tier, kind, id, employee, project, task, comment] = read;
  return { place: { tier, kind, id }, upTo: { employee, project, task, comment } };
}
