import type { Format } from '../operations/requests.ts';
import type { World } from '../support/world.ts';

export type Caller = { employeeId: number; headers: Record<string, string> };

/** What the load generator is asked to do. */
export type Job = {
  url: string;
  operation: string;
  format: Format;
  /** Who calls: each request is made in the name of one of them, in no order. */
  callers: readonly Caller[];
  world: World;
  connections: number;
  seconds: number;
  /** Requests a second that arrive whatever the answers do; left out, each connection sends as soon as it is answered. */
  rate?: number;
};

/** What came of it. Times are in milliseconds, of requests; a batch is one request of many calls. */
export type Load = {
  requests: number;
  requestsPerSecond: number;
  callsPerSecond: number;
  p50: number;
  p95: number;
  p99: number;
  /** Answers that were no 200, and their share. */
  failures: number;
  failureShare: number;
  /** The share of a core that the generator itself took. */
  generatorShare: number;
};
