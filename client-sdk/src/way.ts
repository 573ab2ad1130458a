/** What comes of a subscription: that it has begun, then its events. */
export type Incoming = 'started' | { data: unknown };

/** A way for events to come. It ends, or throws a fault, when it is cut; going on is the stream's business. */
export type Way = {
  listen(subscription: { operation: string; input: unknown; signal: AbortSignal }): AsyncGenerator<Incoming, void>;
  /** Gives a connection up that was made for somebody else. */
  drop(): void;
};

/** Which way is taken now. */
export type Ways = {
  present(): Way;
  /** Told after each failure, the how manieth in a row it was: perhaps the other way gets through where this one did not. */
  failed(tried: Way, failures: number): void;
};
