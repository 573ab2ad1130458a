import type { Db } from '../../db/open.ts';
import { transactionOf } from '../../db/scope.ts';
import type { Services } from './context.ts';

/*
 * The writes of a transaction that others wait for: events of streams, and jobs. The code that runs the transaction
 * wakes the subscribers and the worker after the commit, so no operation has to remember it.
 */

type Written = { streams: Set<string>; hasJobs: boolean };
const writtenIn = new WeakMap<Db, Written>();

function writtenOf(db: Db): Written {
  const transaction = transactionOf(db);
  let written = writtenIn.get(transaction);
  if (!written) writtenIn.set(transaction, (written = { streams: new Set(), hasJobs: false }));
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

/** Wakes the subscribers and the worker; call it when the transaction has committed. */
export function signalCommit({ streams, wakeWorker }: Pick<Services, 'streams' | 'wakeWorker'>, db: Db): void {
  const written = writtenIn.get(transactionOf(db));
  if (!written) return;
  streams.notify([...written.streams]);
  if (written.hasJobs) wakeWorker();
}
