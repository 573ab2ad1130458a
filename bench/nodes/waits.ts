import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

/** What sessions that run a statement wait for, and how many of them on average; `processor` where they wait for nothing. */
export type Waits = { event: string; sessions: number }[];

const everyMs = 50;

/** Looks at the sessions of the database at intervals, until it is stopped. */
export function countWaits(client: pg.Client): { stop(): Promise<Waits> } {
  const seen = new Map<string, number>();
  let looks = 0;
  const stopping = new AbortController();
  const looking = (async () => {
    while (!stopping.signal.aborted) {
      const { rows } = await client.query<{ event: string; count: number }>(`
        select coalesce(wait_event_type || ' ' || wait_event, 'processor') as event, count(*)::integer as count
        from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
          and (state = 'active' or wait_event_type = 'Lock') and wait_event_type is distinct from 'Client'
        group by 1`);
      looks += 1;
      for (const { event, count } of rows) seen.set(event, (seen.get(event) ?? 0) + count);
      await delay(everyMs);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await looking;
      return [...seen]
        .map(([event, count]) => ({ event, sessions: Math.round((count / looks) * 100) / 100 }))
        .toSorted((one, other) => other.sessions - one.sessions);
    },
  };
}
