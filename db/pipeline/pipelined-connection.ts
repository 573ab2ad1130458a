import type pg from 'pg';
import { openReconnecting } from '../reconnecting-client.ts';
import type { Scope } from '../scope.ts';
import type { Statement } from './statement-query.ts';
import { runStatement } from './statements.ts';

/** A named statement that changes nothing, so it may be run a second time. */
export type Read = Statement & { name: string; scope?: Scope | undefined };

/** A connection on which reads are sent without waiting for the answers before them: see reads.ts. */
export type PipelinedConnection = {
  /** How many reads are in flight; undefined where it takes none at present. */
  load(): number | undefined;
  /** Rejects for whatever reason it has no answer: run the read elsewhere then. */
  run(read: Read): Promise<pg.QueryResult>;
  close(): Promise<void>;
};

export type PipelinedConnectionOptions = {
  connection: pg.ClientConfig;
  /** Told of a read that kept others from their answers. */
  onSlowQuery(read: Read): void;
};

const inFlightMax = 256;
/** With a read in flight for longer than this, further reads are better off elsewhere. */
const busyAfterMs = 5;
/** Without any answer for so long the connection is stuck: all reads in flight leave it. */
const stuckAfterMs = 50;
/** A stuck one without any answer for so long is replaced. */
const deadAfterMs = 5_000;

/** A larger answer keeps those behind it waiting, on the way and while it is read. */
const rowsMax = 1_000;
const statementTimeout = '57014';

type ReadInFlight = {
  read: Read;
  /** The end of the tick in which it was sent, so that this process' own work in it does not count; Infinity until then. */
  sentAt: number;
  giveUp(reason: unknown): void;
};

export function openPipelinedConnection({ connection, onSlowQuery }: PipelinedConnectionOptions): PipelinedConnection {
  const client = openReconnecting({ ...connection, pipeline: true });
  // In the order of the answers, which is that of the reads.
  const inFlight: ReadInFlight[] = [];
  let justSent: ReadInFlight[] = [];
  let isBusy = false;
  let isStuck = false;
  let answeredAt = 0;
  let stuckCheck: NodeJS.Timeout | undefined;

  // Both checks run when the sockets of their tick have been read: an answer that has arrived counts as one.
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

  /** Answers come in order; only a read that could not be sent leaves before those in front of it. */
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
