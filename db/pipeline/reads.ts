import type { CompiledQuery, Dialect } from 'kysely';
import type pg from 'pg';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { openPipelinedConnection, type PipelinedConnection } from './pipelined-connection.ts';
import { singleStatements, type Run } from './single-statements.ts';
import { nameInScope, type NameStatement } from './statements.ts';
import type { Scope } from '../scope.ts';
import type { Db } from '../transaction.ts';

/*
 * How statements reach a PostgreSQL server. The handle `Handles.reads` takes single statements that only read.
 *
 * - A statement with parameters is named by its text, so each connection prepares it once (statements.ts).
 * - Reads are pipelined: they are sent on a few read-only connections without waiting for earlier answers, and the
 *   reads of one tick leave in one write (pipelined-connection.ts).
 * - Answers come in the order of the reads, so a slow one delays those behind it. A connection without an answer for 50
 *   ms is stuck: its reads run on the pool instead, and the first of them counts as slow.
 * - The circuit breaker runs a slow statement on a small separate pool for five seconds or more (circuit-breaker.ts).
 * - A read runs a second time if its connection fails, so a failed connection costs time but no answer.
 * - Loaders turn the single reads of one tick into one statement (loader.ts); busy statements are built once
 *   (compiled.ts, list.ts, paginate.ts).
 * - In a transaction `inOrder` lists the statements that share a round trip (in-order.ts).
 * - With row-level security each statement is preceded by its scope, before the same Sync (statement-query.ts).
 */

/** The longest that one statement may occupy a pipelined connection. */
const statementTimeoutMs = 100;
const readOnlyTransaction = '25006';

export type ReadsOptions = {
  connection: pg.ClientConfig;
  /** How many pipelined connections. */
  connectionCount: number;
  nameOf: NameStatement;
  /** Runs reads that no pipelined connection accepts. */
  onPool: Run;
  /** Runs the statements for which the circuit breaker is open, on a separate pool. */
  onSlowPool: Run;
  /**
   * Called with the text of a statement that came as a read and writes, which is a bug of its caller. It was run
   * nevertheless.
   */
  onWrite(text: string): void;
};

export type Reads = {
  /** The handle of a scope; `scope` is undefined while row-level security is off. */
  handle(scope: Scope | undefined): Db;
  run: Run;
  close(): Promise<void>;
};

export function openReads(
  root: { db: Db; dialect: Dialect },
  { connection, connectionCount, nameOf, onPool, onSlowPool, onWrite }: ReadsOptions,
): Reads {
  const breaker = createCircuitBreaker();
  const config: pg.ClientConfig = {
    ...connection,
    statement_timeout: statementTimeoutMs,
    options: `${connection.options ?? ''} -c default_transaction_read_only=on`,
  };
  const open = () =>
    openPipelinedConnection({ connection: config, onSlowQuery: ({ name }) => breaker.onSlowQuery(name) });
  let connections: PipelinedConnection[] | undefined;

  function leastLoaded(): PipelinedConnection | undefined {
    let free: PipelinedConnection | undefined;
    let least = Infinity;
    // Opened at first use: until they are connected the pool does their work.
    for (const one of (connections ??= Array.from({ length: connectionCount }, open))) {
      const load = one.load();
      if (load === undefined || load >= least) continue;
      free = one;
      least = load;
    }
    return free;
  }

  async function run(query: CompiledQuery, scope: Scope | undefined) {
    const { sql: text, parameters: values } = query;
    const name = nameInScope(nameOf(text, values), scope);
    const pipelined = name === undefined || breaker.isOpen(name) ? undefined : leastLoaded();
    if (pipelined) {
      try {
        return { rows: (await pipelined.run({ name: name!, text, values, scope })).rows as unknown[] };
      } catch (error) {
        if ((error as { code?: unknown }).code === readOnlyTransaction) onWrite(text);
      }
    }
    return (breaker.isOpen(name) ? onSlowPool : onPool)(query, scope);
  }

  return {
    handle: (scope) => singleStatements(root, (query) => run(query, scope)),
    run,
    close: async () => void (await Promise.all((connections ?? []).map((one) => one.close()))),
  };
}
