/** A sleep that another function can end. An AbortSignal would do the same, but create an error each time. */
export type InterruptibleSleep = {
  wake(): void;
  /** Ignores calls of `wake` up to now. */
  forget(): void;
  /** Sleeps until `wake` or for so long, and not at all if `wake` was called since the last sleep. */
  take(ms: number): Promise<void>;
};

export function createInterruptibleSleep(): InterruptibleSleep {
  let isWoken = false;
  let end = (): void => {};
  return {
    wake() {
      isWoken = true;
      end();
    },
    forget: () => void (isWoken = false),
    async take(ms) {
      if (!isWoken)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      isWoken = false;
    },
  };
}
