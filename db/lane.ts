import type pg from 'pg';
import { keepConnected } from './kept-connection.ts';
import { atEndOfTurn } from './turn.ts';
import { NamedQuery, type NamedStatement } from './named-query.ts';

/*
 * Vocabulary. A lane is a connection on which reads are pipelined: sent without waiting for the answers before them, all
 * of one turn of the event loop in one write. That halves what a short read costs. The price is that answers come in
 * the order of the reads, so a lane watches itself: what is held up there leaves it and is run elsewhere.
 */

/** A statement that changes nothing, so it may be run a second time. */
export type Read = NamedStatement & { name: string };

export type Lane = {
  /** How many reads are in flight; undefined where the lane takes none at present. */
  load(): number | undefined;
  /** Rejects for whatever reason there is no answer of this lane: run the read elsewhere then. */
  run(read: Read): Promise<pg.QueryResult>;
  close(): Promise<void>;
};

export type LaneOptions = {
  connection: pg.ClientConfig;
  /** Told of a read that kept the lane from answering. */
  onHoldUp(read: Read): void;
};

const inFlightMax = 256;
/** With a read in flight for longer than this, newcomers are better off elsewhere. */
const busyAfterMs = 5;
/** A lane without any answer for so long is stuck: all reads in flight leave it. */
const stuckAfterMs = 50;
/** A stuck one without any answer for so long is replaced. */
const deadAfterMs = 5_000;

/** A larger answer keeps those behind it waiting, on the way and while it is read. */
const rowsMax = 1_000;
const statementTimeout = '57014';

type Flight = {
  read: Read;
  /** Infinity until it has left this process. */
  sentAt: number;
  leave(reason: unknown): void;
};

export function openLane({ connection, onHoldUp }: LaneOptions): Lane {
  const kept = keepConnected({ ...connection, pipeline: true });
  // In the order of the answers, which is that of the reads.
  const inFlight = createQueue<Flight>();
  let unsent: Flight[] = [];
  let isBusy = false;
  let isStuck = false;
  let answeredAt = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Keeps what is written until this turn of the event loop has seen all sockets, and sends it as one. */
  function sendLater(flight: Flight, { stream }: pg.Connection): void {
    unsent.push(flight);
    if (unsent.length > 1) return;
    stream.cork();
    atEndOfTurn(() => {
      stream.uncork();
      const now = performance.now();
      // Whatever was answered meanwhile has been read by now.
      isBusy = now - (inFlight.first()?.sentAt ?? now) > busyAfterMs;
      for (const one of unsent) one.sentAt = now;
      unsent = [];
    });
    // Timers come before sockets in a turn of the event loop: an answer that is there must be read first.
    timer ??= setTimeout(() => setImmediate(judge), stuckAfterMs);
  }

  function judge(): void {
    timer = undefined;
    const first = inFlight.first();
    if (!first) return;
    const silentMs = performance.now() - Math.max(first.sentAt, answeredAt);
    if (silentMs >= deadAfterMs) kept.drop();
    else if (silentMs >= stuckAfterMs && !isStuck) {
      isStuck = true;
      onHoldUp(first.read);
      for (const flight of inFlight.all()) flight.leave(new Error('the lane is stuck'));
    }
    timer = setTimeout(() => setImmediate(judge), stuckAfterMs);
  }

  function land(flight: Flight): void {
    inFlight.remove(flight);
    answeredAt = performance.now();
    isBusy = answeredAt - (inFlight.first()?.sentAt ?? answeredAt) > busyAfterMs;
    if (inFlight.size() === 0) isStuck = false;
  }

  return {
    load: () =>
      isStuck || isBusy || inFlight.size() >= inFlightMax || kept.current() === undefined ? undefined : inFlight.size(),

    run: (read) =>
      new Promise((resolve, reject) => {
        const client = kept.current();
        if (!client) {
          reject(new Error('the lane has no connection'));
          return;
        }
        const flight: Flight = { read, sentAt: Infinity, leave: reject };
        inFlight.push(flight);
        sendLater(flight, client.connection);
        const onAnswer = (error: Error | null, result: pg.QueryResult) => {
          land(flight);
          if (error) {
            if ((error as { code?: unknown }).code === statementTimeout) onHoldUp(read);
            reject(error);
            return;
          }
          if (result.rows.length > rowsMax) onHoldUp(read);
          resolve(result);
        };
        NamedQuery.send(client, read, onAnswer);
      }),

    async close() {
      clearTimeout(timer);
      await kept.close();
    },
  };
}

/** First in, first out as a rule. A Set would do, but what it has let go of lives on for as long as its old tables. */
function createQueue<Item>() {
  let items: (Item | undefined)[] = [];
  let head = 0;
  return {
    push: (item: Item) => void items.push(item),
    first: () => items[head],
    size: () => items.length - head,
    all: () => items.slice(head) as Item[],
    remove(item: Item) {
      // One that could not be sent leaves before those in front of it.
      if (items[head] !== item) {
        items = items.filter((other, index) => index >= head && other !== item);
        head = 0;
        return;
      }
      items[head] = undefined;
      head += 1;
      if (head === items.length) items.length = head = 0;
      else if (head >= 1_024) {
        items = items.slice(head);
        head = 0;
      }
    },
  };
}
