import { setImmediate as endOfTick } from 'node:timers/promises';
import pg from 'pg';
import { GuardedSocket } from './guarded-socket.ts';

/*
 * A host that vanishes answers nothing and closes nothing, so each statement would wait for its own limit. Once a connection
 * has been silent for three seconds with a statement on its way, one probe asks over a new connection:
 *
 * - Where the probe has no answer in three seconds, and no other statement has, all connections are closed.
 * - Else those are closed whose session is not at work: its answer was lost, or the server is another one by now.
 * - A session that is at work runs a slow statement, and is left alone.
 *
 * Statements on a connection that is closed fail at once, and the next ones open another.
 */

const silentAfterMs = 3_000;
const probeWithinMs = 3_000;
const checkMs = 1_000;

/** What one connection waits for. */
class Waiting {
  #count = 0;
  /** Since when there was no answer, though there was a statement. */
  since = 0;
  answeredAt = 0;

  get isWaiting(): boolean {
    return this.#count > 0;
  }

  sent(): void {
    if (this.#count === 0) this.since = performance.now();
    this.#count += 1;
  }

  answered(): void {
    this.#count -= 1;
    this.since = this.answeredAt = performance.now();
  }
}

const watched = new WeakMap<pg.ClientBase, Waiting>();

/** To be told of each statement on a connection, where that is watched. */
export const waitingOf = (client: pg.ClientBase): Waiting | undefined => watched.get(client);

export type SilenceWatch = { add(client: pg.PoolClient): void; close(): void };

/**
 * Closes connections whose server no longer answers. All of `targets` are probed: behind a pooler that is the pooler, and the
 * server itself where it can be reached.
 */
export function watchForSilence(targets: pg.ClientConfig[], { isPooled }: { isPooled: boolean }): SilenceWatch {
  const open = new Map<pg.PoolClient, Waiting>();
  let isChecking = false;

  async function check(): Promise<void> {
    const begun = performance.now();
    const silent = [...open].filter(([, one]) => one.isWaiting && begun - one.since > silentAfterMs);
    if (silent.length === 0) return;
    const sessions = silent.map(([client]) => sessionOf(client));
    const answers = await Promise.all(targets.map((target) => findAtWork(target, sessions)));
    const atWork = answers.includes(undefined) ? undefined : answers[0];
    // Answers that have arrived count, however busy this process was.
    await endOfTick();
    if (atWork === undefined && ![...open.values()].some(({ answeredAt }) => answeredAt > begun)) {
      for (const client of open.keys()) close(client);
      return;
    }
    for (const [client, one] of silent) {
      if (!one.isWaiting || one.answeredAt > begun) continue;
      if (atWork === undefined || isPooled || atWork.has(sessionOf(client))) one.since = performance.now();
      else close(client);
    }
  }

  /** Those of the sessions that run a statement; undefined where nothing answers. */
  async function findAtWork(connection: pg.ClientConfig, sessions: number[]): Promise<Set<number> | undefined> {
    const limits = { connectionTimeoutMillis: probeWithinMs, query_timeout: probeWithinMs };
    const probe = new pg.Client({ ...connection, ...limits, stream: () => new GuardedSocket() });
    probe.on('error', () => {});
    try {
      await probe.connect();
      // The sessions are the pooler's, and one that has none free is there all the same.
      if (isPooled) return new Set();
      const text = "select pid from pg_stat_activity where pid = any($1) and state = 'active'";
      const { rows } = await probe.query<{ pid: number }>(text, [sessions]);
      return new Set(rows.map(({ pid }) => pid));
    } catch (error) {
      // A refusal is an answer as well.
      return error instanceof pg.DatabaseError ? new Set(sessions) : undefined;
    } finally {
      void probe.end().catch(() => {});
    }
  }

  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    void check().finally(() => (isChecking = false));
  }, checkMs).unref();

  return {
    add(client) {
      const waiting = new Waiting();
      watched.set(client, waiting);
      open.set(client, waiting);
      client.once('end', () => open.delete(client));
    },
    close: () => clearInterval(timer),
  };
}

const sessionOf = (client: pg.PoolClient): number => (client as unknown as { processID: number }).processID;

function close({ connection }: pg.PoolClient): void {
  connection.stream.destroy(new Error('Connection terminated: the server no longer answers'));
}
