import { atEndOfTurn } from './turn.ts';

/**
 * Looks up one by one what is loaded together: all that is asked for within one turn of the event loop is one
 * `load`. It begins after the last of them has asked, so nobody is answered with what was true before.
 * `nameOf` tells one key from another; `load` answers by these names.
 */
export function batched<Key, Name, Value>(
  nameOf: (key: Key) => Name,
  load: (keys: Key[]) => Promise<ReadonlyMap<Name, Value>>,
): (key: Key) => Promise<Value | undefined> {
  let asked: Map<Name, Key> | undefined;
  let loading: Promise<ReadonlyMap<Name, Value>>;

  return async (key) => {
    if (!asked) {
      const keys = (asked = new Map<Name, Key>());
      loading = new Promise((resolve) => {
        atEndOfTurn(() => {
          asked = undefined;
          resolve(load([...keys.values()]));
        });
      });
    }
    const name = nameOf(key);
    asked.set(name, key);
    return (await loading).get(name);
  };
}
