import type pg from 'pg';
import { openReconnecting } from '../reconnecting-client.ts';
import type { Scope } from '../scope.ts';
import type { Statement } from './statement-query.ts';
import { runStatement } from './statements.ts';

/** A named statement that changes nothing, so it is safe to run again. */
export type Read = Statement & { name: string; scope?: Scope };

/** A connection that sends reads without waiting for earlier answers: see reads.ts. */
export type PipelinedConnection = {
  /** How many reads are in flight; undefined while it accepts none. */
  load(): number | undefined;
  /** Rejects if it has no answer, for any reason: run the read elsewhere then. */
  run(read: Read): Promise<pg.QueryResult>;
  close(): Promise<void>;
};

export type PipelinedConnectionOptions = {
  connection: pg.ClientConfig;
  /** Called with a read that delayed the answers of others. */
  onSlowQuery(read: Read): void;
};

const inFlightMax = 256;
/** After one read has been in flight this long, further reads go elsewhere. */
const busyAfterMs = 5;
/** After this time without any answer the connection is stuck: its reads run elsewhere. */
const stuckAfterMs = 50;
/** After this time without any answer a stuck connection is replaced. */
const deadAfterMs = 5_000;

/** A larger answer delays the answers behind it, in the network and while it is parsed. */
const rowsMax = 1_000;
const statementTimeout = '57014';

type ReadInFlight = {
  read: Read;
  /**
   * The end of the tick in which it was sent, so that this process's own work in that tick does not count; Infinity
   * until then.
   */
  sentAt: number;
  giveUp(reason: unknown): void;
};

export function openPipelinedConnection({ connection, onSlowQuery }: PipelinedConnectionOptions): PipelinedConnection {
  const client = openReconnecting({ ...connection, pipeline: true });
  // In the order of the answers, which is the order of the reads.
  const inFlight: ReadInFlight[] = [];
  let justSent: ReadInFlight[] = [];
  let isBusy = false;
  let isStuck = false;
  let answeredAt = 0;
  let stuckCheck: NodeJS.Timeout | undefined;

  // Both checks run after the sockets of their tick were read, so an answer that has arrived counts.
  function watch(one: ReadInFlight): void {
    if (justSent.push(one) === 1) setImmediate(endTick);
    stuckCheck ??= setTimeout(() => setImmediate(checkStuck), stuckAfterMs);
  }

  function endTick(): void {
    const now = performance.now();
    noteLoad(now);
    for (const one of justSent) one.sentAt = now;
    justSent = [];
  }

  function noteLoad(now: number): void {
    isBusy = now - (inFlight[0]?.sentAt ?? now) > busyAfterMs;
  }

  function checkStuck(): void {
    stuckCheck = undefined;
    const [first] = inFlight;
    if (!first) return;
    const silentMs = performance.now() - Math.max(first.sentAt, answeredAt);
    if (silentMs >= deadAfterMs) client.drop();
    else if (silentMs >= stuckAfterMs && !isStuck) {
      isStuck = true;
      onSlowQuery(first.read);
      for (const one of inFlight) one.giveUp(new Error('the pipelined connection is stuck'));
    }
    stuckCheck = setTimeout(() => setImmediate(checkStuck), stuckAfterMs);
  }

  /** Answers come in order; only a read that could not be sent is removed earlier. */
  function remove(one: ReadInFlight): void {
    inFlight.splice(inFlight.indexOf(one), 1);
    answeredAt = performance.now();
    noteLoad(answeredAt);
    if (inFlight.length === 0) isStuck = false;
  }

  async function send(on: pg.Client, one: ReadInFlight): Promise<pg.QueryResult> {
    const { read } = one;
    inFlight.push(one);
    watch(one);
    try {
      const result = await runStatement(on, read, read.scope);
      if (result.rows.length > rowsMax) onSlowQuery(read);
      return result;
    } catch (error) {
      if ((error as { code?: unknown }).code === statementTimeout) onSlowQuery(read);
      throw error;
    } finally {
      remove(one);
    }
  }

  return {
    load: () =>
      isStuck || isBusy || inFlight.length >= inFlightMax || client.current() === undefined
        ? undefined
        : inFlight.length,

    run: (read) =>
      new Promise((resolve, reject) => {
        const on = client.current();
        if (!on) reject(new Error('there is no connection'));
        else send(on, { read, sentAt: Infinity, giveUp: reject }).then(resolve, reject);
      }),

    async close() {
      clearTimeout(stuckCheck);
      await client.close();
    },
  };
}
