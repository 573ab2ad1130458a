import { sql, type RawBuilder } from 'kysely';
import type { ValueOrPlaceholder } from './compiled.ts';

/**
 * A list that a statement is given, for `any()` and `unnest()`. As a plain parameter PostgreSQL looks into it at each
 * run, finds it shorter than it would guess, and for that plans the statement anew, which takes longer than to run it.
 * As the answer of a subquery it is out of the planner's sight: one plan is made and kept. So this is for statements that
 * want the same plan however long the list is.
 */
export const list = <Value>(
  values: ValueOrPlaceholder<readonly Value[]>,
  type: 'bigint' | 'boolean' | 'text' | 'timestamptz',
): RawBuilder<Value[]> => sql`(select ${values}::${arrays[type]})::${arrays[type]}`;

const arrays = {
  bigint: sql`bigint[]`,
  boolean: sql`boolean[]`,
  text: sql`text[]`,
  timestamptz: sql`timestamptz[]`,
};
