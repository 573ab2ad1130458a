import {
  AbortedTransactionError,
  CompiledQuery,
  SelectQueryNode,
  Transaction,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
} from 'kysely';
import { noteSent, sendInOrder, type Steps } from './pipeline/in-order.ts';
import type { Schema } from './schema.ts';
import { noteScope, setScope, type Scope } from './scope.ts';

/** Any handle that runs statements: the database itself or a transaction. Queries take it as their first argument. */
export type Db = Kysely<Schema>;

/** A transaction that takes its connection with its first statement, and none where no statement comes. */
export type LazyTransaction = {
  readonly db: Transaction<Schema>;
  commit(): Promise<void>;
  /**
   * Runs its last statements as {@link inOrder} does, with COMMIT right behind them, so that their row locks are held no
   * longer than they take. Where one fails, nothing is kept; a further statement is refused.
   */
  commitBehind<const Answers extends readonly unknown[]>(steps: Steps<Answers>): Promise<Answers>;
  rollback(): Promise<void>;
};

/** A connection that is kept until `release`, with BEGIN on its way; statements go through `body`. */
type Held = { connection: DatabaseConnection; body: Body; begun: Promise<unknown>; release(): void };
/** The transaction's statements, each in a scope; in none where row security is off. */
type Body = (scope: Scope | undefined) => DatabaseConnection;
type Watch = { isOver(): boolean; onSent(): void };

/**
 * Opens a transaction for one mutation. Until the body's first statement no connection is held,
 * so input is checked and passwords are hashed before anybody else has to wait for one.
 * `onOpen` runs first in it; where it throws, so does the statement that opened the transaction.
 *
 * Statements are sent without waiting for each other's answers: BEGIN with the first one, and in one round trip those that
 * `inOrder` lists.
 *
 * It begins in the given scope; see scope.ts.
 */
export function beginLazily(
  db: Db,
  parts: { dialect: Dialect; driver: Driver },
  onOpen?: (db: Db) => Promise<void>,
  scope?: Scope,
): LazyTransaction {
  const { driver } = parts;
  let held: Promise<Held> | undefined;
  let opened: Promise<Body> | undefined;
  let hasEnded = false;
  /** Its last statements have been sent. */
  let isSealed = false;

  const hold = () =>
    (held ??= holdConnection(
      db,
      { driver, scope },
      { isOver: () => hasEnded || isSealed, onSent: () => noteSent(handle) },
    ));
  const open = () =>
    (opened ??= hold().then(async ({ body }) => {
      await onOpen?.(handleOn(async () => body, scope));
      return body;
    }));

  function handleOn(body: () => Promise<Body>, own: Scope | undefined, root?: Db): Transaction<Schema> {
    const executor = db.getExecutor().withConnectionProvider({
      provideConnection: async (consumer) => consumer((await body())(own)),
    });
    const handle = new Transaction<Schema>({ config: { dialect: parts.dialect }, ...parts, executor });
    if (!own) return handle;
    return noteScope(handle, { root: root ?? handle, within: (other) => handleOn(body, other, root ?? handle) });
  }

  /** Ends it once, where there is anything to end. */
  async function end(work: (held: Held) => Promise<void>): Promise<void> {
    // Where it could not begin there is nothing to end.
    const current = await held?.catch(() => undefined);
    if (!current || hasEnded) return;
    hasEnded = true;
    await work(current).finally(current.release);
  }

  const commit = () =>
    end(async ({ connection, begun }) => {
      try {
        await begun;
        await driver.commitTransaction(connection);
      } catch (error) {
        // Whatever the connection is in the middle of, nobody else may find it so.
        if (!(error instanceof AbortedTransactionError)) await driver.rollbackTransaction(connection).catch(() => {});
        throw error;
      }
    });

  const rollback = () => end(({ connection }) => driver.rollbackTransaction(connection));

  async function commitBehind<const Answers extends readonly unknown[]>(steps: Steps<Answers>): Promise<Answers> {
    const sent = await sendInOrder(handle, steps).catch(async (error: unknown) => {
      await rollback();
      throw error;
    });
    isSealed = true;
    const [answers, committed] = await Promise.allSettled([Promise.all(sent), commit()]);
    if (answers.status === 'rejected') throw answers.reason;
    if (committed.status === 'rejected') throw committed.reason;
    return answers.value as unknown as Answers;
  }

  const handle = handleOn(open, scope);
  return { db: handle, commit, commitBehind, rollback };
}

async function holdConnection(
  db: Db,
  { driver, scope }: { driver: Driver; scope: Scope | undefined },
  watch: Watch,
): Promise<Held> {
  const { promise, resolve, reject } = Promise.withResolvers<Held>();
  db.getExecutor()
    .provideConnection(async (connection) => {
      const ended = Promise.withResolvers<void>();
      const begun = scope ? beginIn(scope, connection) : driver.beginTransaction(connection, {});
      // Told by the statement that waits for it, or by the commit.
      begun.catch(() => {});
      resolve({ connection, body: behind({ begun, connection, scope }, watch), begun, release: ended.resolve });
      await ended.promise;
    })
    .catch(reject);
  return promise;
}

/** All in one message: the transaction has its scope from its beginning on. */
const beginIn = ({ role, company }: Scope, connection: DatabaseConnection): Promise<unknown> =>
  connection.executeQuery(CompiledQuery.raw(`begin; set local role ${role}; set local app.company_id = '${company}'`));

/** A select that was built, of nothing but selects. What was written as text counts as one that may write. */
const isSelect = ({ query }: CompiledQuery): boolean =>
  SelectQueryNode.is(query) &&
  (query.with === undefined || query.with.expressions.every(({ expression }) => SelectQueryNode.is(expression)));

const inFailedTransaction = '25P02';

/**
 * Lets reads out right behind BEGIN. What writes waits for its answer, and what comes after that waits with it. Where a
 * statement fails, so do those that were sent behind it: they tell of the first failure, not that there was one. What
 * comes after the end is refused: the connection may be somebody else's by then.
 */
function behind(
  { begun, connection, scope }: { begun: Promise<unknown>; connection: DatabaseConnection; scope: Scope | undefined },
  { isOver, onSent }: Watch,
): Body {
  let gate: Promise<unknown> | undefined;
  let failure: unknown;
  let current = scope;

  /** Of what was sent behind the first failure each one fails for that alone. */
  function noteFailure(error: unknown): void {
    if ((error as { code?: unknown }).code !== inFailedTransaction) failure ??= error;
  }
  begun.catch(noteFailure);

  /** Sends, right in front of a statement, what changes the scope. */
  function enter(next: Scope): void {
    current = next;
    connection.executeQuery(CompiledQuery.raw(setScope, [next.role, next.company])).catch(noteFailure);
  }

  return (own) => ({
    async executeQuery<Row>(query: CompiledQuery) {
      if (gate === undefined && !isSelect(query)) gate = begun;
      if (gate !== undefined) await gate;
      if (isOver()) throw failure ?? new Error('the transaction has ended: wait for all statements before the end');
      if (own && (own.role !== current?.role || own.company !== current.company)) enter(own);
      const answer = connection.executeQuery<Row>(query);
      onSent();
      try {
        return await answer;
      } catch (error) {
        noteFailure(error);
        throw failure ?? error;
      }
    },
    streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
  });
}
