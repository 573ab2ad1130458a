import { setTimeout as delay } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { Lane, ReactionServices } from '../kernel/reaction.ts';

/** A delivery that this process, and no other, may run until its lease has run out. */
export type Leased = {
  deliveryId: number;
  reaction: string;
  dedupeKey: string;
  payload: unknown;
  createdAt: Date;
  /** This try's number. It also tells this lease from every other one of the delivery. */
  tries: number;
  /** Moves on while the delivery runs. */
  until: Date;
};

/**
 * The table of deliveries, as the worker sees it. A lease is short, so that what a killed process left is taken over
 * soon, and is renewed while its delivery runs, so that nothing runs at two places at once however long it takes.
 */
export type Leases = {
  /** Takes a lease on up to `count` deliveries of a lane that are due, those due longest first; on none held already. */
  take(lane: Lane, count: number): Promise<Leased[]>;
  /** Crosses out a delivery that is done. */
  finish(leased: Leased): Promise<void>;
  /** Gives a delivery back: to be tried again after the wait, or parked where there is none. */
  giveBack(leased: Leased, outcome: { waitMs: number | undefined; reason: string }): Promise<void>;
  /** No more waiting for a database that is away. */
  stop(): void;
};

export type LeaseTimes = { leaseMs: number; renewMs: number };

const firstRetryMs = 100;

export function createLeases(
  { database: { db }, clock, log }: Pick<ReactionServices, 'database' | 'clock' | 'log'>,
  { leaseMs, renewMs }: LeaseTimes,
): Leases {
  const held = new Map<number, Leased>();
  const stopping = new AbortController();
  let renewing: NodeJS.Timeout | undefined;
  const inFuture = (ms: number) => new Date(clock.now().getTime() + ms);

  /** One that is no longer held is left alone: somebody else has it, and the number of its try has moved on. */
  async function renew(): Promise<void> {
    const until = inFuture(leaseMs);
    const all = [...held.values()];
    const { rows } = await sql<{ delivery_id: number }>`
      update deliveries as d set leased_until = ${until}
      from unnest(${all.map((one) => one.deliveryId)}::bigint[], ${all.map((one) => one.tries)}::int[]) as h (id, tries)
      where d.delivery_id = h.id and d.attempts = h.tries and d.leased_until is not null
      returning d.delivery_id`.execute(db);
    for (const { delivery_id: id } of rows) {
      const leased = held.get(id);
      if (leased) leased.until = until;
    }
  }

  function hold(all: Leased[]): void {
    for (const leased of all) held.set(leased.deliveryId, leased);
    if (held.size === 0) return;
    renewing ??= setInterval(() => {
      renew().catch((error: unknown) => log.warn({ err: error }, 'leases of deliveries could not be renewed'));
    }, renewMs).unref();
  }

  function release(leased: Leased): void {
    if (held.get(leased.deliveryId) === leased) held.delete(leased.deliveryId);
    if (held.size > 0) return;
    clearInterval(renewing);
    renewing = undefined;
  }

  /**
   * Writes what became of a delivery, again and again while its lease lasts: what was sent and is not crossed out is sent
   * a second time, so a database that is away for a moment is waited for.
   */
  async function settle(leased: Leased, statement: RawBuilder<unknown>): Promise<void> {
    try {
      for (let waitMs = firstRetryMs; ; waitMs *= 2) {
        try {
          await statement.execute(db);
          return;
        } catch (error) {
          if (stopping.signal.aborted || clock.now().getTime() + waitMs > leased.until.getTime()) throw error;
          await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
        }
      }
    } finally {
      release(leased);
    }
  }

  return {
    async take(lane, count) {
      const until = inFuture(leaseMs);
      const now = clock.now();
      const { rows } = await sql<Omit<Leased, 'until'>>`
        update deliveries set leased_until = ${until}, attempts = attempts + 1
        where delivery_id in (
          select delivery_id from deliveries
          where lane = ${lane} and parked_at is null and due_at <= ${now}
            and (leased_until is null or leased_until < ${now})
            and delivery_id <> all(${[...held.keys()]}::bigint[])
          order by due_at, delivery_id limit ${count} for update skip locked
        )
        returning delivery_id as "deliveryId", reaction, dedupe_key as "dedupeKey", payload,
          created_at as "createdAt", attempts as tries`.execute(db);
      const taken = rows.map((row) => ({ ...row, until })).toSorted((a, b) => a.deliveryId - b.deliveryId);
      hold(taken);
      return taken;
    },
    finish: (leased) => settle(leased, sql`delete from deliveries where delivery_id = ${leased.deliveryId}`),
    giveBack: (leased, { waitMs, reason }) =>
      settle(
        leased,
        sql`
          update deliveries set leased_until = null, last_error = ${reason},
            due_at = coalesce(${waitMs === undefined ? null : inFuture(waitMs)}::timestamptz, due_at),
            parked_at = ${waitMs === undefined ? clock.now() : null}::timestamptz
          where delivery_id = ${leased.deliveryId} and attempts = ${leased.tries}`,
      ),
    stop: () => stopping.abort(),
  };
}
