import { ApiError } from './api-error.ts';

/** What a transport receives for a subscription: that it has begun, then its events. */
export type Incoming = 'started' | { data: unknown };

/** Carries subscriptions. A subscription that is cut ends or throws an API error; its stream subscribes again. */
export type Transport = {
  name: 'websocket' | 'sse';
  subscribe(subscription: { operation: string; input: unknown; signal: AbortSignal }): AsyncGenerator<Incoming, void>;
  /** Closes the connection: its credentials are no longer those of the client. */
  disconnect(): void;
};

/** Chooses between the transports. */
export type TransportChoice = {
  current(): Transport;
  /** Reports the number of failures in a row, so that the other transport is tried where this one does not get through. */
  failed(tried: Transport, failures: number): void;
};

export function connectionLost(operation = 'events'): ApiError {
  return new ApiError('NETWORK_ERROR', 'The connection was cut.', { status: 0, operation });
}
