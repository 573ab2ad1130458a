/** More waiting events than this are too many for a slow reader: the stream reconnects at its cursor. */
const waitingMax = 1_000;

/** A queue that one side fills and the other reads in a loop, until it ends or fails; earlier items are read first. */
export type Queue<Item> = {
  push(item: Item): void;
  end(failure?: unknown): void;
  [Symbol.asyncIterator](): AsyncGenerator<Item, void>;
};

export function createQueue<Item>(onFull: () => unknown): Queue<Item> {
  const items: Item[] = [];
  let ending: { failure: unknown } | undefined;
  let wake: () => void = () => {};

  function end(failure?: unknown): void {
    ending ??= { failure };
    wake();
  }

  return {
    push(item) {
      if (ending) return;
      items.push(item);
      if (items.length >= waitingMax) end(onFull());
      wake();
    },
    end,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (items.length > 0) yield items.shift()!;
        if (ending?.failure !== undefined) throw ending.failure;
        if (ending) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
