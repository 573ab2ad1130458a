import type { FaultError } from '../kernel/fault.ts';

/** One subscriber of one stream, as those see them who have news for them. */
export type Follower = {
  /** There may be something new. */
  wake(): void;
  end(fault: FaultError): void;
  /** Throws the fault that it was ended with. */
  throwIfEnded(): void;
  /** Waits for something new; answers false where nobody listens any more. */
  next(hasNews: () => boolean): Promise<boolean>;
};

export function createFollower(signal: AbortSignal): Follower {
  let ending: FaultError | undefined;
  let wake: () => void = () => {};
  signal.addEventListener('abort', () => wake(), { once: true });

  const isWaiting = (): boolean => !signal.aborted && !ending;

  function throwIfEnded(): void {
    if (ending) throw ending;
  }

  return {
    wake: () => wake(),
    end(fault) {
      ending = fault;
      wake();
    },
    throwIfEnded,
    async next(hasNews) {
      while (isWaiting() && !hasNews()) await new Promise<void>((resolve) => (wake = resolve));
      throwIfEnded();
      return !signal.aborted;
    },
  };
}
