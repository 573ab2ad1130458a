import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';

/** A delivery as an operator sees it. */
export type Owed = {
  id: number;
  reaction: string;
  payload: unknown;
  state: 'parked' | 'waiting' | 'running';
  tries: number;
  created_at: Date;
  due_at: Date;
  parked_at: Date | null;
  last_error: string | null;
};

/** `waiting` has failed at least once, or is due; what is planned for later and not due yet is neither. */
export type Which = 'parked' | 'waiting';

const pageSize = 500;

/** What is owed, the oldest first, read page by page. */
export async function* listOwed(db: Db, which: Which[], now: Date): AsyncGenerator<Owed> {
  for (let after = 0; ;) {
    const { rows } = await sql<Owed>`
      select delivery_id as id, reaction, payload, attempts as tries, created_at, due_at, parked_at, last_error,
        case when parked_at is not null then 'parked' when leased_until > ${now} then 'running' else 'waiting' end as state
      from deliveries
      where delivery_id > ${after} and (
        (${which.includes('parked')} and parked_at is not null)
        or (${which.includes('waiting')} and parked_at is null and (attempts > 0 or due_at <= ${now})))
      order by delivery_id limit ${pageSize}`.execute(db);
    yield* rows;
    if (rows.length < pageSize) return;
    after = rows.at(-1)!.id;
  }
}

/** Every one that is parked, every one that waits for another try, or those with the given identifiers. */
export type Selection = Which | { ids: number[] };

/**
 * Makes deliveries due now, with a full set of tries before them; answers which. What is being run is left alone, and so
 * is what is planned for later and has not been tried yet.
 */
export async function requeue(db: Db, selection: Selection, now: Date): Promise<number[]> {
  const failed = sql`parked_at is null and attempts > 0 and (leased_until is null or leased_until < ${now})`;
  const parked = sql`parked_at is not null`;
  const chosen =
    typeof selection === 'object'
      ? sql`delivery_id = any(${selection.ids}::bigint[]) and (${parked} or (${failed}))`
      : selection === 'parked'
        ? parked
        : failed;
  const { rows } = await sql<{ id: number }>`
    update deliveries set parked_at = null, leased_until = null, attempts = 0, due_at = ${now}
    where ${chosen} returning delivery_id as id`.execute(db);
  return rows.map(({ id }) => id).toSorted((a, b) => a - b);
}

/** Where the delivery with that identifier stands, if there is one. */
export async function findStanding(
  db: Db,
  id: number,
  now: Date,
): Promise<{ isRunning: boolean; due_at: Date } | undefined> {
  const { rows } = await sql<{ isRunning: boolean; due_at: Date }>`
    select coalesce(leased_until > ${now}, false) as "isRunning", due_at
    from deliveries where delivery_id = ${id}`.execute(db);
  return rows[0];
}
