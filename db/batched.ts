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
  type Gathering = { keys: Map<Name, Key>; times: number; found: Promise<ReadonlyMap<Name, Value>> };
  let gathering: Gathering | undefined;

  function gather(): Gathering {
    const keys = new Map<Name, Key>();
    const found = new Promise<ReadonlyMap<Name, Value>>((resolve) => {
      atEndOfTurn(() => {
        gathering = undefined;
        resolve(load([...keys.values()]));
      });
    });
    return { keys, times: 0, found };
  }

  return async (key) => {
    const mine = (gathering ??= gather());
    const name = nameOf(key);
    mine.keys.set(name, key);
    mine.times += 1;
    if (mine.times === enough) endTurnNow();
    return (await mine.found).get(name);
  };
}
