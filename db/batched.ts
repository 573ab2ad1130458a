import { atEndOfTurn, endTurnNow } from './turn.ts';

/** With so many waiting for a load it begins: the database works on it while the others are still being heard. */
const enough = 16;

/**
 * Looks up one by one what is loaded together: what is asked for within one turn of the event loop is one `load`, or a
 * few where many ask. It begins after the last of them has asked, so nobody is answered with what was true before.
 * `nameOf` tells one key from another; `load` answers by these names.
 */
export function batched<Key, Name, Value>(
  nameOf: (key: Key) => Name,
  load: (keys: Key[]) => Promise<ReadonlyMap<Name, Value>>,
): (key: Key) => Promise<Value | undefined> {
  let asked: { keys: Map<Name, Key>; times: number } | undefined;
  let loading: Promise<ReadonlyMap<Name, Value>>;

  return async (key) => {
    if (!asked) {
      const gathered = (asked = { keys: new Map<Name, Key>(), times: 0 });
      loading = new Promise((resolve) => {
        atEndOfTurn(() => {
          asked = undefined;
          resolve(load([...gathered.keys.values()]));
        });
      });
    }
    const name = nameOf(key);
    const mine = loading;
    asked.keys.set(name, key);
    asked.times += 1;
    if (asked.times === enough) endTurnNow();
    return (await mine).get(name);
  };
}
