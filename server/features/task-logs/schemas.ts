import { text } from '../../kernel/wire/fields.ts';

/** A description of the work, or null. */
export const logDescription = text({ min: 0, max: 10_000 }).nullish();
