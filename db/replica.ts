import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery, type QueryResult } from 'kysely';
import pg from 'pg';
import type { Run } from './pipeline/single-statements.ts';
import { nameInScope, runStatement, type NameStatement } from './pipeline/statements.ts';
import type { Scope } from './scope.ts';

/*
 * Long reads on a streaming standby. Their answers are never older than their request, so a caller reads their own writes,
 * through whichever node these went. Docs/decisions/0008 has the reasons and the alternatives.
 *
 * - Each statement first asks the primary for its position in the write-ahead log: all that was acknowledged before is in
 *   front of it. The statement runs when its standby has replayed that much.
 * - A standby that takes longer than `lagMaxMs` is late, and the statement runs on the primary.
 * - The standby is checked on the connection that then runs the statement, because a balancer may lead to several.
 * - A statement that fails on the standby for any reason but its own time limit runs again on the primary.
 * - A probe once a second finds out whether the standby is used. While it is not, no statement waits for it.
 */

/** Why long reads go to the primary. */
export type ReplicaObstacle =
  | 'unchecked'
  | 'does not answer'
  | 'is late'
  | 'is no standby'
  | 'is of another database'
  | 'is on another timeline';

export type ReplicaState = {
  /** Undefined while it is used. */
  obstacle: ReplicaObstacle | undefined;
  /** How long the standby took, or has taken so far, to replay what the primary had written; undefined while that is unknown. */
  lagMs: number | undefined;
  /** Statements by where they ran. */
  reads: { replica: number; primary: number };
};

export type ReplicaOptions = {
  connection: pg.ClientConfig;
  /** The connections for statements. */
  pool: pg.Pool;
  /** The longest that a statement waits for the standby. */
  lagMaxMs: number;
  nameOf: NameStatement;
  onPrimary: Run;
  /** Called with the text of a long read that writes, which is a bug of its caller. It is run on the primary. */
  onWrite(text: string): void;
  /** Called when the standby becomes used or is used no longer. */
  onChange(obstacle: ReplicaObstacle | undefined, cause?: unknown): void;
};

export type Replica = {
  run: Run;
  state(): ReplicaState;
  /** Resolves when the standby was checked for the first time. */
  checked: Promise<void>;
  close(): Promise<void>;
};

const probeEveryMs = 1_000;
const probeWithinMs = 2_000;
const pollMs = { first: 1, longest: 20 };
const statementTimeout = '57014';
const readOnlyTransaction = '25006';

/** A position of the primary, and what identifies the database whose position it is. */
type Position = { lsn: string; system: string; timeline: number; database: string };

const readPosition = `
  select pg_current_wal_flush_lsn()::text as lsn, system_identifier::text as system, current_database() as database,
    ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::integer as timeline
  from pg_control_system() where $1`;

/*
 * The timeline is that of the last restart point, so a standby counts as being on the old one until its first checkpoint
 * after a failover. Before that one that followed the lost primary further than the new one did would pass.
 */
const comparePosition = `
  select pg_is_in_recovery() as "isStandby", pg_last_wal_replay_lsn() >= $1::pg_lsn as "isCurrent",
    system_identifier::text = $2 and current_database() = $3 as "isSame", timeline_id = $4::integer as "isOnTimeline"
  from pg_control_system(), pg_control_checkpoint()`;

type Comparison = { isStandby: boolean; isCurrent: boolean | null; isSame: boolean; isOnTimeline: boolean };

class Unusable extends Error {
  readonly obstacle: ReplicaObstacle;

  constructor(obstacle: ReplicaObstacle) {
    super(`the replica ${obstacle}`);
    this.obstacle = obstacle;
  }
}

export function openReplica(options: ReplicaOptions): Replica {
  const { connection, pool, lagMaxMs, nameOf, onPrimary, onWrite, onChange } = options;
  const closing = new AbortController();
  const reads = { replica: 0, primary: 0 };
  let obstacle: ReplicaObstacle | undefined = 'unchecked';
  let lagMs: number | undefined;

  const { promise: checked, resolve: noteChecked } = Promise.withResolvers<void>();

  function note(next: ReplicaObstacle | undefined, cause?: unknown): void {
    noteChecked();
    if (next !== undefined && next !== 'is late') lagMs = undefined;
    if (closing.signal.aborted || next === obstacle) return;
    obstacle = next;
    onChange(next, cause);
  }

  /** Undefined where the primary answers that it has none, as it does while it is a standby itself. */
  async function positionOfPrimary(): Promise<Position | undefined> {
    try {
      // The parameter makes it a statement that can be prepared, and so pipelined.
      const { rows } = await onPrimary(CompiledQuery.raw(readPosition, [true]), undefined);
      return rows[0] as Position;
    } catch (error) {
      if (error instanceof pg.DatabaseError) return undefined;
      throw error;
    }
  }

  async function run(query: CompiledQuery, scope: Scope | undefined): Promise<QueryResult<unknown>> {
    const at = obstacle === undefined ? await positionOfPrimary() : undefined;
    if (at) {
      try {
        const result = await runOnReplica(query, scope, at);
        reads.replica += 1;
        return result;
      } catch (error) {
        const { code } = error as { code?: unknown };
        if (code === statementTimeout) throw error;
        if (code === readOnlyTransaction) onWrite(query.sql);
      }
    }
    reads.primary += 1;
    return onPrimary(query, scope);
  }

  async function runOnReplica(
    { sql: text, parameters: values }: CompiledQuery,
    scope: Scope | undefined,
    at: Position,
  ) {
    const client = await pool.connect();
    let isDone = false;
    try {
      await waitFor(
        at,
        (comparison, given) =>
          runStatement(client, { name: nameOf(comparison, given), text: comparison, values: given }),
        (forMs) => {
          if (forMs > lagMaxMs) throw new Unusable('is late');
        },
      );
      const name = nameInScope(nameOf(text, values), scope);
      const { rows } = await runStatement(client, { name, text, values }, scope);
      isDone = true;
      return { rows: rows as unknown[] };
    } catch (error) {
      if (error instanceof Unusable) note(error.obstacle);
      throw error;
    } finally {
      // Behind a balancer the next connection may lead to a better one.
      client.release(!isDone);
    }
  }

  /** Waits until the standby has replayed what the primary had written, and returns how long it was seen to lack that. */
  async function waitFor(
    { lsn, system, database, timeline }: Position,
    ask: (text: string, values: unknown[]) => Promise<pg.QueryResult>,
    onBehind: (forMs: number) => void,
  ): Promise<number> {
    const begun = performance.now();
    let behindMs = 0;
    for (let waitMs = pollMs.first; ; waitMs = Math.min(waitMs * 2, pollMs.longest)) {
      const { rows } = await ask(comparePosition, [lsn, system, database, timeline]);
      const { isStandby, isSame, isOnTimeline, isCurrent } = rows[0] as Comparison;
      if (!isSame) throw new Unusable('is of another database');
      if (!isStandby) throw new Unusable('is no standby');
      if (!isOnTimeline) throw new Unusable('is on another timeline');
      if (isCurrent === true) return behindMs;
      behindMs = performance.now() - begun;
      onBehind(behindMs);
      await delay(waitMs, undefined, { signal: closing.signal });
    }
  }

  const limits = { connectionTimeoutMillis: probeWithinMs, query_timeout: probeWithinMs };
  const probes = new pg.Pool({ ...connection, ...limits, max: 1 });
  probes.on('error', () => {});

  async function probe(): Promise<void> {
    // Where the primary does not answer, that is no word on the standby.
    const at = await positionOfPrimary().catch(() => undefined);
    if (!at) return;
    try {
      lagMs = await waitFor(
        at,
        (text, values) => probes.query(text, values),
        (forMs) => {
          lagMs = forMs;
          if (forMs > lagMaxMs) note('is late');
        },
      );
      if (lagMs <= lagMaxMs) note(undefined);
    } catch (error) {
      if (error instanceof Unusable) note(error.obstacle);
      else note('does not answer', error);
    }
  }

  const probing = (async () => {
    await probe();
    noteChecked();
    while (!closing.signal.aborted) {
      await delay(probeEveryMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      if (!closing.signal.aborted) await probe();
    }
  })();

  return {
    run,
    state: () => ({ obstacle, lagMs, reads: { ...reads } }),
    checked,
    async close() {
      closing.abort();
      await probing;
      await Promise.all([probes.end(), pool.end()]);
    },
  };
}
