/** What came with an answer. */
export interface ResponseInfo {
  /** The HTTP status. */
  status: number;
  /** Identifies the request in the service's log: quote it when you report a problem. */
  requestId: string | undefined;
  /** The requests that the caller may make of this operation, and how many are left until the budget is full again. */
  rateLimit: { limit: number; remaining: number; resetMs: number } | undefined;
  /** The write had taken effect before, with the same key: this is its first answer again. */
  isReplayed: boolean;
  /** All headers that the page may read, but for tokens. */
  headers: Headers;
}

/** An answer, and what came with it. */
export interface WithResponse<Answer> {
  data: Answer;
  response: ResponseInfo;
}

/** A call that is running: `await` it for its answer. */
export interface Call<Answer> extends Promise<Answer> {
  /**
   * Resolves with the answer and what came with it: after retries, that of the last attempt. It is the same call, which is
   * not made again. A failed call rejects as without it.
   */
  withResponse(): Promise<WithResponse<Answer>>;
}

/** A file to send: a `File` or `Blob`, its bytes, or base64. */
export type Upload = Blob | ArrayBuffer | ArrayBufferView | string;

/** Options of one call. */
export interface CallOptions {
  /** Aborting it rejects the call with the signal's reason, and ends its retries. */
  signal?: AbortSignal | undefined;
  /** The time limit of the call with its retries, of a file until it begins; 60,000 by default. */
  timeoutMs?: number | undefined;
  /** The time limit of one attempt; 20,000 by default. */
  tryTimeoutMs?: number | undefined;
  /** The most retries, if a retry is safe; 3 by default. */
  retries?: number | undefined;
}

/** Options of one write. */
export interface WriteOptions extends CallOptions {
  /**
   * The write takes effect once per key: the same key with the same input gets the first answer again, for 24 hours. By
   * default each call has a new key, so its retries have no second effect; set a key to repeat the call itself, such as
   * after a crash.
   */
  idempotencyKey?: string | undefined;
}

/**
 * The state of a stream: it connects, it is live, or it waits before it reconnects. It is live again after each cut,
 * and missed events follow.
 */
export type StreamStatus = 'connecting' | 'live' | 'waiting';

/** Options of a stream. */
export interface StreamOptions {
  /** Aborting it ends the stream as leaving its loop does. */
  signal?: AbortSignal | undefined;
  /**
   * Called with each change of the state, and the transport. At the first `live`, read the current state: from then on no event
   * is missed. It may be asynchronous; where it fails, the stream ends with its error. With `sse` each stream takes one of the
   * six connections that a browser has for a service over HTTP/1.1.
   */
  onStatus?: ((status: StreamStatus, transport: 'websocket' | 'sse') => unknown) | undefined;
}

/**
 * Events, each once and in order, for one `for await` loop. It connects with the loop, reconnects after every cut, and
 * ends when the loop is left or the signal is aborted. It throws errors as an `ApiError`.
 */
export interface EventStream<Event> extends AsyncIterableIterator<Event> {
  /** Ends it, also while it waits for the next event. */
  return(): Promise<IteratorResult<Event>>;
}

/** One page of a list. */
export interface Page<Item> {
  results: Item[];
  page: number;
  pageSize: number;
  /** The number of items on all pages */
  total: number;
  totalPages: number;
}

/**
 * A list: `await` it for one page, or loop over it with `for await` for every item from that page on. An item that
 * moves to the next page during the loop comes once.
 */
export interface Paged<Item, Answer = Page<Item>> extends Call<Answer>, AsyncIterable<Item> {}

/**
 * A file in pieces as they arrive; it can be read once. A broken connection throws, so that half a file never looks
 * complete.
 */
export interface Download extends AsyncIterable<Uint8Array> {
  /** The name that the service gives it, such as `timesheet_2026-03-01_2026-03-31_by_day.csv`. */
  readonly filename: string;
  /** The media type, such as `text/csv`. */
  readonly mediaType: string;
  /** Reads the whole file as text. */
  text(): Promise<string>;
  /** Reads the whole file. */
  bytes(): Promise<Uint8Array>;
}
