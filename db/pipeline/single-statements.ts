import {
  Kysely,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely';
import type { Schema } from '../schema.ts';
import type { Scope } from '../scope.ts';
import type { Db } from '../transaction.ts';

/** Runs a single statement, in a scope if row-level security is on. */
export type Run = (query: CompiledQuery, scope: Scope | undefined) => Promise<QueryResult<unknown>>;

/** A handle that compiles as `db` does and runs each statement through `run`. */
export function singleStatements(
  { db, dialect }: { db: Db; dialect: Dialect },
  run: (query: CompiledQuery) => Promise<QueryResult<unknown>>,
): Db {
  const connection: DatabaseConnection = {
    executeQuery: async <Row>(query: CompiledQuery) => (await run(query)) as QueryResult<Row>,
    streamQuery: () => refuse('streams'),
  };
  const executor = db.getExecutor().withConnectionProvider({ provideConnection: (consumer) => consumer(connection) });
  return new Kysely<Schema>({ config: { dialect }, dialect, driver: withoutTransactions, executor });
}

const refuse = (what: string): never => {
  throw new Error(`this handle takes single statements, no ${what}: use the database's begin()`);
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
