import { sql, type CompiledQuery, type RawBuilder } from 'kysely';
import type { Db } from './transaction.ts';

/** Stands where a value will be. */
class Blank {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

type Blanks<Values> = <Name extends keyof Values & string>(name: Name) => RawBuilder<Values[Name]>;

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
    const { rows } = await db.executeQuery<Row>({ ...made, parameters });
    return rows;
  };
}
