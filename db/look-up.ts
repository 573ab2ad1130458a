import { sql, type CompiledQuery, type RawBuilder, type SqlBool } from 'kysely';
import { batched } from './batched.ts';
import { compiled, shortWays } from './compiled.ts';
import { list } from './list.ts';
import type { Db } from './transaction.ts';

type Place = { companyId: number; id: number };
type Places = { companyIds: number[]; ids: number[] };

/**
 * Reads single rows by their identifier within a company. What requests ask for in one turn of the event loop, each for
 * its own company, is one statement; within a transaction each is its own. `build` is given the condition to select by,
 * on `company_id` and the column `id`, and selects both.
 */
export function lookUp<Row extends { company_id: number }>(
  id: keyof Row & string,
  build: (db: Db, isAsked: RawBuilder<SqlBool>) => CompiledQuery<Row>,
): (db: Db, companyId: number, id: number) => Promise<Row | undefined> {
  const readOne = compiled<Place, Row>((db, blank) =>
    build(db, sql<SqlBool>`company_id = ${blank('companyId')} and ${sql.ref(id)} = ${blank('id')}`),
  );
  const read = compiled<Places, Row>((db, blank) =>
    build(
      db,
      sql<SqlBool>`(company_id, ${sql.ref(id)}) in (
        select * from unnest(${list(blank('companyIds'), 'bigint')}, ${list(blank('ids'), 'bigint')})
      )`,
    ),
  );
  // By the handle for reads, which has a short way; others are transactions, and the embedded database's one connection.
  const onLanes = new WeakMap<Db, (place: Place) => Promise<Row | undefined>>();
  const gather = (db: Db) =>
    batched(nameOf, async (places: Place[]) => {
      const rows = await read(db, {
        companyIds: places.map((place) => place.companyId),
        ids: places.map((place) => place.id),
      });
      return new Map(rows.map((row) => [nameOf({ companyId: row.company_id, id: row[id] as number }), row]));
    });

  return (db, companyId, wanted) => {
    const place = { companyId, id: wanted };
    if (!shortWays.has(db)) return readOne(db, place).then(([row]) => row);
    let find = onLanes.get(db);
    if (!find) onLanes.set(db, (find = gather(db)));
    return find(place);
  };
}

const nameOf = ({ companyId, id }: Place): string => `${companyId} ${id}`;
