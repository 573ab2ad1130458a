import type { FaultError } from '../kernel/fault.ts';
import type { StreamEvent } from '../kernel/streams.ts';

/** What waits in memory for one subscriber; who has more waiting reads it from the table when they are ready. */
const waitingMax = 200;

/** One subscriber of one stream: what is on its way to them. */
export type Follower<Event extends StreamEvent = StreamEvent> = {
  push(events: readonly Event[]): void;
  /** The next event in memory, if there is one. */
  take(): Event | undefined;
  miss(): void;
  /** Whether some did not come by way of memory; asking forgets it. */
  hasMissed(): boolean;
  end(fault: FaultError): void;
  /** Throws the fault that it was ended with. */
  throwIfEnded(): void;
  /** Waits for something new; answers false where nobody listens any more. */
  next(): Promise<boolean>;
};

export function createFollower<Event extends StreamEvent>(signal: AbortSignal): Follower<Event> {
  let waiting: Event[] = [];
  let missed = false;
  let ending: FaultError | undefined;
  let wake: () => void = () => {};
  signal.addEventListener('abort', () => wake(), { once: true });

  function miss(): void {
    waiting = [];
    missed = true;
    wake();
  }

  const isIdle = (): boolean => !signal.aborted && !ending && !missed && waiting.length === 0;

  function throwIfEnded(): void {
    if (ending) throw ending;
  }

  return {
    push(events) {
      if (missed) return;
      if (waiting.length + events.length > waitingMax) return miss();
      waiting.push(...events);
      wake();
    },
    take: () => waiting.shift(),
    miss,
    hasMissed() {
      const answer = missed;
      missed = false;
      return answer;
    },
    end(fault) {
      ending = fault;
      wake();
    },
    throwIfEnded,
    async next() {
      while (isIdle()) await new Promise<void>((resolve) => (wake = resolve));
      throwIfEnded();
      return !signal.aborted;
    },
  };
}
