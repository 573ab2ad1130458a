import { sql } from 'kysely';
import { compiled } from '../../db/compiled.ts';
import type { Db } from '../../db/open.ts';
import { transactionOf } from '../../db/scope.ts';
import { keyOf } from './streams.ts';

/** A fact about a company's things, told to the subscribers of one stream. */
export type Fact = {
  companyId: number;
  /** `task 12` for the talk on a task, `recipient 7` for a person's notifications. */
  stream: string;
  type: string;
  payload: Record<string, unknown>;
  at: Date;
};

/** Which streams got facts in a transaction: those who listen are woken when it has committed. */
const publishedIn = new WeakMap<Db, Set<string>>();

export function streamsPublishedIn(db: Db): string[] {
  return [...(publishedIn.get(transactionOf(db)) ?? [])];
}

/**
 * Writes a fact into its stream, in the transaction that makes it true, and answers its number there.
 * Numbers are taken under the lock of the stream's row, so they have no gaps and are in the order of commits.
 */
export async function publish(db: Db, fact: Fact): Promise<number> {
  const { companyId, stream, type, payload, at } = fact;
  const [row] = await writeFact(db, { companyId, stream, type, payload: JSON.stringify(payload), at });
  const transaction = transactionOf(db);
  const published = publishedIn.get(transaction) ?? new Set();
  publishedIn.set(transaction, published.add(keyOf(companyId, stream)));
  return row!.sequence;
}

type FactValues = Omit<Fact, 'payload'> & { payload: string };

const writeFact = compiled<FactValues, { sequence: number }>((db, blank) =>
  sql<{ sequence: number }>`
    with taken as (
      insert into event_streams as s (company_id, stream, last_sequence)
      values (${blank('companyId')}, ${blank('stream')}, 1)
      on conflict (company_id, stream) do update set last_sequence = s.last_sequence + 1
      returning last_sequence
    )
    insert into events (company_id, stream, sequence, type, payload, at)
    select ${blank('companyId')}, ${blank('stream')}, last_sequence, ${blank('type')}, ${blank('payload')}::jsonb, ${blank('at')}
    from taken
    returning sequence`.compile(db),
);
