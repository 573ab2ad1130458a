import { sql, type CompiledQuery, type RawBuilder, type SqlBool } from 'kysely';
import { compiled } from './compiled.ts';
import { list } from './list.ts';
import type { Db } from '../transaction.ts';

/**
 * The DataLoader pattern without a cache: all keys that are requested within one tick of the event loop are read by one
 * `load`. It begins after the last request of the tick, so no caller gets a value from before its request. `nameOf`
 * identifies a key; `load` answers by these names.
 */
export function createLoader<Key, Name, Value>(
  nameOf: (key: Key) => Name,
  load: (keys: Key[]) => Promise<ReadonlyMap<Name, Value>>,
): (key: Key) => Promise<Value | undefined> {
  let batch: { keys: Map<Name, Key>; found: Promise<ReadonlyMap<Name, Value>> } | undefined;

  function openBatch() {
    const keys = new Map<Name, Key>();
    // By then every socket with a request in this tick has been read.
    const tick = new Promise<void>((resolve) => void setImmediate(resolve));
    const found = tick.then(() => {
      batch = undefined;
      return load([...keys.values()]);
    });
    return { keys, found };
  }

  return async (key) => {
    const own = (batch ??= openBatch());
    const name = nameOf(key);
    own.keys.set(name, key);
    return (await own.found).get(name);
  };
}

type Place = { companyId: number; id: number };
type Places = { companyIds: number[]; ids: number[] };

/**
 * A loader of single rows by their identifier within a company: the requests of one tick, each for its own company,
 * share one statement. Inside a transaction each read is its own statement. `build` receives the condition, on
 * `company_id` and the column `id`, and selects both.
 */
export function rowLoader<Row extends { company_id: number }>(
  id: keyof Row & string,
  build: (db: Db, isAsked: RawBuilder<SqlBool>) => CompiledQuery<Row>,
): (db: Db, companyId: number, id: number) => Promise<Row | undefined> {
  const readOne = compiled<Place, Row>((db, placeholder) =>
    build(db, sql<SqlBool>`company_id = ${placeholder('companyId')} and ${sql.ref(id)} = ${placeholder('id')}`),
  );
  const readMany = compiled<Places, Row>((db, placeholder) =>
    build(
      db,
      sql<SqlBool>`(company_id, ${sql.ref(id)}) in (
        select * from unnest(${list(placeholder('companyIds'), 'bigint')}, ${list(placeholder('ids'), 'bigint')})
      )`,
    ),
  );
  const loaders = new WeakMap<Db, (place: Place) => Promise<Row | undefined>>();
  const loaderOn = (db: Db) =>
    createLoader(nameOf, async (places: Place[]) => {
      const rows = await readMany(db, {
        companyIds: places.map((place) => place.companyId),
        ids: places.map((place) => place.id),
      });
      return new Map(rows.map((row) => [nameOf({ companyId: row.company_id, id: row[id] as number }), row]));
    });

  return async (db, companyId, wanted) => {
    const place = { companyId, id: wanted };
    if (db.isTransaction) return (await readOne(db, place))[0];
    let load = loaders.get(db);
    if (!load) loaders.set(db, (load = loaderOn(db)));
    return load(place);
  };
}

const nameOf = ({ companyId, id }: Place): string => `${companyId} ${id}`;
