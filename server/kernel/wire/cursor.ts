import { z } from 'zod';
import { invalid } from '../../errors/errors.ts';

/* Cursors of lists: the place of the last record of a page, in a text that means nothing to callers. */

export const cursorField = z
  .string()
  .max(100)
  .meta({ description: 'The `nextCursor` of the page before', examples: ['MTA0Mi4xMDQ'] })
  .optional();

/** Of an answer: the cursor of the page after it. */
export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Where to go on; null at the end', examples: [null] });

/** A number in a cursor. */
export const cursorNumber = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

export const toCursor = (...position: (string | number)[]): string =>
  Buffer.from(position.join('.')).toString('base64url');

/** The place that a cursor names; refuses one that is no such place. */
export function readCursor<Position extends z.ZodType>(
  cursor: string | undefined,
  position: Position,
): z.output<Position> | undefined {
  if (cursor === undefined) return undefined;
  const read = position.safeParse(Buffer.from(cursor, 'base64url').toString().split('.'));
  if (!read.success) throw invalid(['cursor'], 'must be the nextCursor of the page before', 'invalid_format');
  return read.data;
}
