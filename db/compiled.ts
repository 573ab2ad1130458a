import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import type { Db } from './transaction.ts';

/** Stands where a value will be. */
class Blank {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export type Blanks<Values> = <Name extends keyof Values & string>(name: Name) => RawBuilder<Values[Name]>;

/** Runs a statement that is text already, without Kysely's layers; for handles that have such a way. */
type RunText = (text: string, values: readonly unknown[]) => Promise<unknown[]>;
export const shortWays = new WeakMap<Db, RunText>();

/** A value, or the blank for it: what a part of a statement takes that compiled statements share with others. */
export type Given<Value> = Value | RawBuilder<Value>;

/**
 * A statement that is built and made into text once, with blanks for its values, and then runs as often as it is
 * wanted. For the statements of the busiest paths: building one takes longer than PostgreSQL does to answer it.
 */
export function compiled<Values extends object, Row>(
  build: (db: Db, blank: Blanks<Values>) => CompiledQuery<Row>,
): (db: Db, values: Values) => Promise<Row[]> {
  let made: CompiledQuery<Row> | undefined;
  return async (db, values) => {
    made ??= build(db, (name) => sql.val(new Blank(name) as never));
    const parameters = made.parameters.map((value) =>
      value instanceof Blank ? values[value.name as keyof Values] : value,
    );
    const run = shortWays.get(db);
    if (run) return (await run(made.sql, parameters)) as Row[];
    return (await db.executeQuery<Row>({ ...made, parameters })).rows;
  };
}

/** The same for a statement of which there are a few, such as one for each choice of filters: each is made once. */
export function compiledFor<Variant extends string | number | boolean, Values extends object, Row>(
  build: (db: Db, blank: Blanks<Values>, variant: Variant) => CompiledQuery<Row>,
): (db: Db, variant: Variant, values: Values) => Promise<Row[]> {
  const made = new Map<Variant, (db: Db, values: Values) => Promise<Row[]>>();
  return (db, variant, values) => {
    let run = made.get(variant);
    if (!run) made.set(variant, (run = compiled<Values, Row>((on, blank) => build(on, blank, variant))));
    return run(db, values);
  };
}
