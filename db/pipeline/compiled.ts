import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import type { Db } from '../transaction.ts';

/** Takes the place of a value in a statement. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

type Placeholders<Values> = <Name extends keyof Values & string>(name: Name) => RawBuilder<Values[Name]>;

/** A parameter of a query part that compiled statements share with others. */
export type ValueOrPlaceholder<Value> = Value | RawBuilder<Value>;

/**
 * A statement that is built and compiled to text once, with placeholders for its values, and run many times. It is for
 * the busiest paths, where building a statement takes longer than PostgreSQL takes to answer it.
 */
export function compiled<Values extends object, Row>(
  build: (db: Db, placeholder: Placeholders<Values>) => CompiledQuery<Row>,
): (db: Db, values: Values) => Promise<Row[]> {
  let made: CompiledQuery<Row> | undefined;
  return async (db, values) => {
    made ??= build(db, (name) => sql.val(new Placeholder(name) as never));
    const parameters = made.parameters.map((value) =>
      value instanceof Placeholder ? values[value.name as keyof Values] : value,
    );
    return (await db.executeQuery<Row>({ ...made, parameters })).rows;
  };
}

/** The same for a statement with a few variants, such as one for each combination of filters. */
export function compiledFor<Variant extends string | number | boolean, Values extends object, Row>(
  build: (db: Db, placeholder: Placeholders<Values>, variant: Variant) => CompiledQuery<Row>,
): (db: Db, variant: Variant, values: Values) => Promise<Row[]> {
  const made = new Map<Variant, (db: Db, values: Values) => Promise<Row[]>>();
  return (db, variant, values) => {
    let run = made.get(variant);
    if (!run) made.set(variant, (run = compiled<Values, Row>((on, placeholder) => build(on, placeholder, variant))));
    return run(db, values);
  };
}
