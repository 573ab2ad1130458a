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

/** A transaction that takes its connection with its first statement, and none without statements. */
export type LazyTransaction = {
  readonly db: Transaction<Schema>;
  commit(): Promise<void>;
  /**
   * Runs its last statements as {@link inOrder} does, with COMMIT right behind them, so that their row locks are held
   * as briefly as possible. If one fails, everything is rolled back. A further statement is refused.
   */
  commitBehind<const Answers extends readonly unknown[]>(steps: Steps<Answers>): Promise<Answers>;
  /** Never rejects: its reason is what callers are told. Where the connection is lost, the server rolls back. */
  rollback(): Promise<void>;
};

/** A connection that is held until `release`, after BEGIN was sent; statements go through `body`. */
type Held = { connection: DatabaseConnection; body: Body; begun: Promise<unknown>; release(): void };
/** The transaction's statements, each in a scope; in none while row-level security is off. */
type Body = (scope: Scope | undefined) => DatabaseConnection;
type Watch = { isOver(): boolean; onSent(): void };

/** Runs a transaction that announces nothing: it commits what `body` does, or nothing of it. */
export async function transact<Answer>(
  handles: { begin(): LazyTransaction },
  body: (db: Db) => Promise<Answer>,
): Promise<Answer> {
  const transaction = handles.begin();
  try {
    const answer = await body(transaction.db);
    await transaction.commit();
    return answer;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/**
 * Opens a transaction for one mutation, in the given scope (see scope.ts). It holds no connection before its first
 * statement, so input is checked and passwords are hashed without one. `onOpen` runs first in it; if it throws, so does
 * the statement that opened the transaction.
 *
 * Statements are sent without waiting for each other's answers: BEGIN with the first one, and in one round trip those
 * that `inOrder` lists.
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

  /** Ends the transaction once, if it began. */
  async function end(work: (held: Held) => Promise<void>): Promise<void> {
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
        // A connection inside a transaction must not reach another caller.
        if (!(error instanceof AbortedTransactionError)) await driver.rollbackTransaction(connection).catch(() => {});
        throw error;
      }
    });

  const rollback = () => end(({ connection }) => driver.rollbackTransaction(connection).catch(() => {}));

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
      // The waiting statement or the commit reports it.
      begun.catch(() => {});
      resolve({ connection, body: behind({ begun, connection, scope }, watch), begun, release: ended.resolve });
      await ended.promise;
    })
    .catch(reject);
  return promise;
}

/** One message, so the transaction has its scope from the start. */
const beginIn = ({ role, company }: Scope, connection: DatabaseConnection): Promise<unknown> =>
  connection.executeQuery(CompiledQuery.raw(`begin; set local role ${role}; set local app.company_id = '${company}'`));

/** A built select that contains only selects. Raw SQL counts as writing. */
const isSelect = ({ query }: CompiledQuery): boolean =>
  SelectQueryNode.is(query) &&
  (query.with === undefined || query.with.expressions.every(({ expression }) => SelectQueryNode.is(expression)));

const inFailedTransaction = '25P02';

/**
 * Sends reads right behind BEGIN. A write waits for BEGIN's answer, and later statements wait with it. If a statement
 * fails, so do those sent after it, and all of them report the first failure. Statements after the end are refused,
 * because the connection may belong to another transaction by then.
 */
function behind(
  { begun, connection, scope }: { begun: Promise<unknown>; connection: DatabaseConnection; scope: Scope | undefined },
  { isOver, onSent }: Watch,
): Body {
  let gate: Promise<unknown> | undefined;
  let failure: unknown;
  let current = scope;

  /** Statements sent after the first failure fail because of it. */
  function noteFailure(error: unknown): void {
    if ((error as { code?: unknown }).code !== inFailedTransaction) failure ??= error;
  }
  begun.catch(noteFailure);

  /** Sends the change of scope immediately before a statement. */
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
