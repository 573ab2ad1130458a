import { sql, type RawBuilder } from 'kysely';
import type { ValueOrPlaceholder } from './compiled.ts';

/**
 * A list parameter for `any()` and `unnest()`. PostgreSQL looks into a plain list parameter at each run, finds it
 * shorter than its generic estimate, and therefore plans the statement again, which takes longer than running it.
 * Inside a subquery the planner cannot see the list, so one generic plan is made and cached. Use it where one plan
 * suits lists of any length.
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
