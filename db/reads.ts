import { CompiledQuery, type Dialect } from 'kysely';
import type pg from 'pg';
import { shortWays } from './compiled.ts';
import { openLane, type Lane } from './lane.ts';
import { nameInScope, type NameStatement } from './named-statements.ts';
import type { Scope } from './scope.ts';
import { singleStatements, type Run } from './single-statements.ts';
import type { Db } from './transaction.ts';

/** How long a statement that held up a lane is kept away from them: anything may be slow once, so longer each time. */
const keptAwayMs = { first: 5_000, times: 4, longest: 60_000 };
/** What a lane's connection may be kept from answering by one statement. */
const statementTimeoutMs = 100;
const readOnlyTransaction = '25006';

export type ReadsOptions = {
  connection: pg.ClientConfig;
  lanes: number;
  nameOf: NameStatement;
  /** Runs what no lane takes. */
  onPool: Run;
  /** Runs the statements that are kept away from the lanes, on a pool of its own. */
  onSlowPool: Run;
  /** Told of a statement that came as a read and writes: a defect of whoever sent it. It was run all the same. */
  onWrite(text: string): void;
};

export type Reads = {
  /** The handle of a scope; of none where row security is off. */
  handle(scope: Scope | undefined): Db;
  close(): Promise<void>;
};

/**
 * Handles for single statements that only read. They go out on lanes, on the pool where no lane is free, and
 * again where a lane fails to answer, so what goes wrong with a lane costs time, never an answer. Those that have held up
 * a lane of late have a pool of their own: however many there are, nobody else waits for them.
 */
export function openReads(
  root: { db: Db; dialect: Dialect },
  { connection, lanes: count, nameOf, onPool, onSlowPool, onWrite }: ReadsOptions,
): Reads {
  const keptAway = new Map<string, { untilMs: number; forMs: number }>();
  const keepAway = (name: string): void => {
    const now = performance.now();
    const last = keptAway.get(name);
    // Several lanes may be held up by the same runs of it.
    if (last && last.untilMs > now) return;
    const isRecent = last !== undefined && now - last.untilMs < keptAwayMs.longest;
    const forMs = isRecent ? Math.min(last.forMs * keptAwayMs.times, keptAwayMs.longest) : keptAwayMs.first;
    keptAway.set(name, { untilMs: now + forMs, forMs });
  };
  const config: pg.ClientConfig = {
    ...connection,
    statement_timeout: statementTimeoutMs,
    options: `${connection.options ?? ''} -c default_transaction_read_only=on`,
  };
  const open = (): Lane =>
    openLane({
      connection: config,
      onHoldUp: ({ name }) => keepAway(name),
    });
  let lanes: Lane[] | undefined;

  function freeLane(): Lane | undefined {
    let free: Lane | undefined;
    let least = Infinity;
    // Opened when first needed: until they are connected the pool does their work.
    for (const lane of (lanes ??= Array.from({ length: count }, open))) {
      const load = lane.load();
      if (load === undefined || load >= least) continue;
      free = lane;
      least = load;
    }
    return free;
  }

  const isKeptAway = (name: string | undefined): boolean =>
    name !== undefined && keptAway.size > 0 && (keptAway.get(name)?.untilMs ?? 0) > performance.now();

  /** Answers its rows; by way of a pool, where no lane answers. */
  async function run(text: string, values: readonly unknown[], scope: Scope | undefined): Promise<unknown[]> {
    const name = nameInScope(nameOf(text, values), scope);
    const lane = name === undefined || isKeptAway(name) ? undefined : freeLane();
    if (lane) {
      try {
        return (await lane.run({ name: name!, text, values, scope })).rows;
      } catch (error) {
        if ((error as { code?: unknown }).code === readOnlyTransaction) onWrite(text);
      }
    }
    const { rows } = await (isKeptAway(name) ? onSlowPool : onPool)(CompiledQuery.raw(text, [...values]), scope);
    return rows;
  }

  function handle(scope: Scope | undefined): Db {
    const reads = singleStatements(root, async ({ sql, parameters }) => ({ rows: await run(sql, parameters, scope) }));
    shortWays.set(reads, (text, values) => run(text, values, scope));
    return reads;
  }

  return { handle, close: async () => void (await Promise.all((lanes ?? []).map((lane) => lane.close()))) };
}
