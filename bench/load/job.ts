import type { Format } from '../operations/requests.ts';
import type { World } from '../support/world.ts';

export type Caller = {
  employeeId: number;
  headers: Record<string, string>;
  /** What the caller has of their own, such as a company. */
  own?: Partial<World>;
};

/** A job of the load generator. */
export type Job = {
  url: string;
  operation: string;
  format: Format;
  /** The callers: each request is made in the name of one of them, in no order. */
  callers: readonly Caller[];
  world: World;
  connections: number;
  seconds: number;
  /** Requests per second at a steady rate; if omitted, each connection sends after its answer. */
  rate?: number;
};

/** The result. Times are in milliseconds, of requests; a batch is one request of many calls. */
export type Load = {
  requests: number;
  requestsPerSecond: number;
  callsPerSecond: number;
  p50: number;
  p95: number;
  p99: number;
  /** Answers other than 200, and their share. */
  failures: number;
  failureShare: number;
  /** The share of a core that the generator itself took. */
  generatorShare: number;
};
