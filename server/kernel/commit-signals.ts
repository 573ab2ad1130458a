import type { Db } from '../../db/open.ts';
import { transactionOf } from '../../db/scope.ts';
import type { Services } from './context.ts';

/*
 * The writes of a transaction that others wait for: events of streams, jobs, and messages for webhooks. The code that runs
 * the transaction wakes the subscribers and the workers after the commit, so no operation has to remember it.
 */

type Written = { streams: Set<string>; hasJobs: boolean; hasMessages: boolean };
const writtenIn = new WeakMap<Db, Written>();

function writtenOf(db: Db): Written {
  const transaction = transactionOf(db);
  let written = writtenIn.get(transaction);
  if (!written) writtenIn.set(transaction, (written = { streams: new Set(), hasJobs: false, hasMessages: false }));
  return written;
}

/** Notes that the transaction appends events to a stream. */
export function noteAppended(db: Db, streamKey: string): void {
  writtenOf(db).streams.add(streamKey);
}

/** Notes that the transaction enqueues jobs. */
export function noteEnqueued(db: Db): void {
  writtenOf(db).hasJobs = true;
}

/** Notes that the transaction writes messages for webhooks. */
export function noteMessages(db: Db): void {
  writtenOf(db).hasMessages = true;
}

/** What a commit may wake. */
export type Woken = Pick<Services, 'streams' | 'wakeWorker' | 'wakeWebhooks'>;

/** Wakes the subscribers and the workers; call it when the transaction has committed. */
export function signalCommit({ streams, wakeWorker, wakeWebhooks }: Woken, db: Db): void {
  const written = writtenIn.get(transactionOf(db));
  if (!written) return;
  streams.notify([...written.streams]);
  if (written.hasJobs) wakeWorker();
  if (written.hasMessages) wakeWebhooks();
}
