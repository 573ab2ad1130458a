import { Transaction, type ControlledTransaction, type Dialect, type Driver, type Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** Any handle that runs statements: the database itself or a transaction. Queries take it as their first argument. */
export type Db = Kysely<Schema>;

/** A transaction that takes its connection with its first statement, and none where no statement comes. */
export type LazyTransaction = {
  readonly db: Transaction<Schema>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
};

/**
 * Opens a transaction for one mutation. Until the body's first statement no connection is held,
 * so input is checked and passwords are hashed before anybody else has to wait for one.
 * `onOpen` runs first in it; where it throws, so does the statement that opened the transaction.
 */
export function beginLazily(
  db: Db,
  parts: { dialect: Dialect; driver: Driver },
  onOpen?: (db: Db) => Promise<void>,
): LazyTransaction {
  let begun: Promise<ControlledTransaction<Schema>> | undefined;
  let opened: Promise<ControlledTransaction<Schema>> | undefined;

  const begin = () => (begun ??= db.startTransaction().execute());
  const open = () =>
    (opened ??= begin().then(async (transaction) => {
      await onOpen?.(transaction);
      return transaction;
    }));

  const executor = db.getExecutor().withConnectionProvider({
    provideConnection: async (consumer) => (await open()).getExecutor().provideConnection(consumer),
  });
  return {
    db: new Transaction<Schema>({ config: { dialect: parts.dialect }, ...parts, executor }),
    commit: async () => {
      const transaction = await begun;
      await transaction?.commit().execute();
    },
    rollback: async () => {
      // Where beginning failed there is nothing to take back.
      const transaction = await begun?.catch(() => undefined);
      await transaction?.rollback().execute();
    },
  };
}
