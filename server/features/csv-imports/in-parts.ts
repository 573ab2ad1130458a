import { setImmediate as tick } from 'node:timers/promises';

const rowsAtOnce = 1_000;

/**
 * Parts of a list for one statement each. Other requests have their turn between two parts: the embedded database runs in the
 * process.
 */
export async function* inParts<Item>(items: readonly Item[]): AsyncGenerator<Item[]> {
  for (let from = 0; from < items.length; from += rowsAtOnce) {
    yield items.slice(from, from + rowsAtOnce);
    await tick();
  }
}
