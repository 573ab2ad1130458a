import { z } from 'zod';
import { invalid } from '../../errors/errors.ts';

/*
 * A result ends where it is long enough, which may be inside a page of the operation. So a cursor of a tool has the place
 * of that page, and how many of its records were shown.
 */

const place = z.strictObject({
  /** The list that goes on: the operation's own, or one that was included. */
  of: z.string().max(40),
  page: z.int().positive().optional(),
  cursor: z.string().max(200).optional(),
  skip: z.int().nonnegative(),
});
export type Place = z.infer<typeof place>;

export const toCursor = (at: Place): string => Buffer.from(JSON.stringify(at)).toString('base64url');

/** The place that a cursor names; refuses what no result gave. */
export function readCursor(cursor: unknown): Place | undefined {
  if (cursor === undefined) return undefined;
  const read = typeof cursor === 'string' ? place.safeParse(parsed(cursor)) : undefined;
  if (!read?.success) throw invalid(['cursor'], 'must be the next_cursor of the result before', 'invalid_format');
  return read.data;
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
