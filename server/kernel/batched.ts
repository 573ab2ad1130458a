import { atEndOfTurn } from '../../db/turn.ts';

/**
 * Looks up one by one what is loaded together: all that is asked for within one turn of the event loop is one `load`.
 * It begins after the last of them has asked, so nobody is answered with what was true before.
 */
export function batched<Key, Value>(
  load: (keys: Key[]) => Promise<ReadonlyMap<Key, Value>>,
): (key: Key) => Promise<Value | undefined> {
  let asked: Set<Key> | undefined;
  let loading: Promise<ReadonlyMap<Key, Value>>;

  return async (key) => {
    if (!asked) {
      const keys = (asked = new Set<Key>());
      loading = new Promise((resolve) => {
        atEndOfTurn(() => {
          asked = undefined;
          resolve(load([...keys]));
        });
      });
    }
    asked.add(key);
    return (await loading).get(key);
  };
}
