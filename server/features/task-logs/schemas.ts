import { z } from 'zod';
import { text } from '../../kernel/wire/fields.ts';

/** A description of the work, or null. */
export const logDescription = text({ min: 0, max: 10_000 }).nullish();

/** Whether a log is charged. */
export const logBillable = z
  .boolean()
  .optional()
  .meta({ description: 'Whether it is charged; that of the project without it', examples: [true] });
