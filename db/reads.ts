import {
  Kysely,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely';
import type pg from 'pg';
import { openLane, type Lane } from './lane.ts';
import type { NameStatement } from './named-statements.ts';
import type { Schema } from './schema.ts';
import type { Db } from './transaction.ts';

/** How long a statement that held up a lane is kept away from them. */
const keptAwayMs = 60_000;
/** What a lane's connection may be kept from answering by one statement. */
const statementTimeoutMs = 100;
const readOnlyTransaction = '25006';

export type ReadsOptions = {
  connection: pg.ClientConfig;
  lanes: number;
  nameOf: NameStatement;
  /** Told of a statement that came as a read and writes: a defect of whoever sent it. It was run all the same. */
  onWrite(text: string): void;
};

export type Reads = { db: Db; close(): Promise<void> };

/**
 * A handle for single statements that only read. They go out on lanes, and on the pool of `db` wherever that is better:
 * where they have held up a lane of late, where no lane is free, and again where a lane fails to answer. So what goes
 * wrong with a lane costs time, never an answer.
 */
export function openReads(
  db: Db,
  dialect: Dialect,
  { connection, lanes: count, nameOf, onWrite }: ReadsOptions,
): Reads {
  const keptAway = new Map<string, number>();
  const config: pg.ClientConfig = {
    ...connection,
    statement_timeout: statementTimeoutMs,
    options: `${connection.options ?? ''} -c default_transaction_read_only=on`,
  };
  const open = (): Lane =>
    openLane({
      connection: config,
      onHoldUp: ({ name }) => void keptAway.set(name, performance.now() + keptAwayMs),
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

  async function execute<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const name = nameOf(query.sql, query.parameters);
    if (name !== undefined && (keptAway.get(name) ?? 0) <= performance.now()) {
      try {
        const answer = await freeLane()?.run({ name, text: query.sql, values: query.parameters });
        if (answer) return { rows: answer.rows as Row[] };
      } catch (error) {
        if ((error as { code?: unknown }).code === readOnlyTransaction) onWrite(query.sql);
      }
    }
    return db.getExecutor().provideConnection((pooled) => pooled.executeQuery<Row>(query));
  }

  const lanesAsOne: DatabaseConnection = {
    executeQuery: execute,
    streamQuery: () => refuse('streams'),
  };
  const executor = db.getExecutor().withConnectionProvider({ provideConnection: (consumer) => consumer(lanesAsOne) });
  return {
    db: new Kysely<Schema>({ config: { dialect }, dialect, driver: withoutTransactions, executor }),
    close: async () => void (await Promise.all((lanes ?? []).map((lane) => lane.close()))),
  };
}

const refuse = (what: string): never => {
  throw new Error(`the handle for reads takes single statements, no ${what}: use the database's own`);
};

const withoutTransactions: Driver = {
  init: async () => {},
  acquireConnection: async () => refuse('connections'),
  beginTransaction: async () => refuse('transactions'),
  commitTransaction: async () => refuse('transactions'),
  rollbackTransaction: async () => refuse('transactions'),
  releaseConnection: async () => {},
  destroy: async () => {},
};
