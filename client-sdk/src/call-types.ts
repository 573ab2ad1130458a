/** How one call is made. */
export interface CallOptions {
  /** Aborting it rejects the call with the signal's reason, and no further try is made. */
  signal?: AbortSignal | undefined;
  /** How long the call may take in all, its retries included; 60,000 unless the client was told otherwise. */
  timeoutMs?: number | undefined;
  /** How long one try may take; 20,000 unless the client was told otherwise. */
  tryTimeoutMs?: number | undefined;
  /** How many tries may follow the first, where trying again is safe; 3 unless the client was told otherwise. */
  retries?: number | undefined;
}

/** How one write is made. */
export interface WriteOptions extends CallOptions {
  /**
   * The write is done once for each key: the same key with the same input gets the first answer again, for 24 hours.
   * A key is made for each call, so its retries do nothing twice; give one of your own to be able to repeat the call
   * itself, such as after a crash.
   */
  idempotencyKey?: string | undefined;
}

/**
 * What a stream of events is doing: it connects, it is live, or it waits for the network before the next try.
 * It is live again after each cut, and what happened in between comes as events.
 */
export type StreamStatus = 'connecting' | 'live' | 'waiting';

/** How a stream of events is listened to. */
export interface StreamOptions {
  /** Aborting it ends the stream as if its loop had been left. */
  signal?: AbortSignal | undefined;
  /** Told of each change; at the first `live`, read what is there already: from then on no event is missed. */
  onStatus?: ((status: StreamStatus) => void) | undefined;
}

/**
 * Events, each once and in order, for one `for await` loop. It connects with the loop, goes on by itself after every
 * cut, and ends when the loop is left or the signal is aborted. An error is thrown as an `ApiError`.
 */
export interface EventStream<Event> extends AsyncIterableIterator<Event> {
  /** Ends it, also while the next event is awaited. */
  return(): Promise<IteratorResult<Event>>;
}

/** One page of a list. */
export interface Page<Item> {
  results: Item[];
  page: number;
  pageSize: number;
  /** How many there are on all pages */
  total: number;
  totalPages: number;
}

/**
 * A list: `await` it for one page, or loop over it with `for await` for every item from that page on. An item that moves
 * to the next page while the loop runs comes once.
 */
export interface Paged<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {}

/** A file, piece by piece as it comes; taken once. A connection that breaks is thrown, so that no half file looks whole. */
export interface Download extends AsyncIterable<Uint8Array> {
  /** As the service calls it, such as `timesheet_2026-03-01_2026-03-31_by_day.csv`. */
  readonly filename: string;
  /** Such as `text/csv`. */
  readonly mediaType: string;
  /** All of it, as text. */
  text(): Promise<string>;
}
