/** More than this waiting is too much for a reader who is slow: it comes again where it stopped. */
const waitingMax = 1_000;

/** What one side pushes and the other takes in a loop, until it ends or fails; what was pushed before that is taken first. */
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
