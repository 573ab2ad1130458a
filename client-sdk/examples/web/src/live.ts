import { isApiError, type StreamOptions, type StreamStatus } from 'work-management-client';
import { explain } from './notices.ts';

type LiveEvent = { type: string };

/** What a view shows of some streams: read once they are live, and changed by their events from then on. */
type Live<Event extends LiveEvent> = {
  /** Opens each stream; one that ends with NOT_FOUND is followed no more. */
  streams: readonly ((options: StreamOptions) => AsyncIterable<Event>)[];
  leave: AbortSignal;
  /** Reads all of it. */
  read(): Promise<void>;
  /** Takes over what an event says. */
  take(event: Event): void;
  failed(problem: string): void;
};

/** A read that failed is tried again after this time, and as soon as a stream is live again. */
const retryMs = 10_000;

/**
 * Follows streams without a gap: what happens while the view is read comes as an event. As the answer may or may not have
 * it already, it is then read once more. Answers a function that reads again.
 */
export function followLive<Event extends LiveEvent>({ streams, leave, read, take, failed }: Live<Event>): () => void {
  const pending = new Set(streams.keys());
  let isReading = false;
  let isStale = false;
  let retry: ReturnType<typeof setTimeout> | undefined;

  async function readAll(): Promise<void> {
    isStale = true;
    if (isReading) return;
    isReading = true;
    clearTimeout(retry);
    retry = undefined;
    try {
      while (isStale && !leave.aborted) {
        isStale = false;
        await read();
      }
    } catch (error) {
      if (leave.aborted || isApiError(error, 'SESSION_ENDED')) return;
      failed(explain(error));
      retry = setTimeout(() => void readAll(), retryMs);
    } finally {
      isReading = false;
    }
  }

  function begin(stream: number): void {
    if (pending.delete(stream) && pending.size === 0) void readAll();
  }

  async function follow(index: number): Promise<void> {
    const onStatus = (status: StreamStatus): void => {
      if (status === 'live') {
        begin(index);
        if (retry !== undefined) void readAll();
      }
      // Where no stream gets through, the view is read all the same.
      else if (status === 'waiting' && pending.has(index)) void readAll();
    };
    try {
      for await (const event of streams[index]!({ signal: leave, onStatus })) {
        if (isReading || event.type === 'stream.reset') void readAll();
        else if (pending.size === 0) take(event);
      }
    } catch (error) {
      if (isApiError(error, 'NOT_FOUND')) begin(index);
      else if (!leave.aborted && !isApiError(error, 'SESSION_ENDED')) failed(explain(error));
    }
  }

  leave.addEventListener('abort', () => clearTimeout(retry));
  if (streams.length === 0) void readAll();
  for (const index of streams.keys()) void follow(index);
  return () => void readAll();
}
