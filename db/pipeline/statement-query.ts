import pg from 'pg';
import { setScope, type Scope } from '../scope.ts';

/*
 * A query object for pg, for two reasons. pg copies a plain config property by property, which costs more than sending
 * it. And row-level security sends a statement's scope before it and before the same Sync, so that both form one
 * implicit transaction and the scope ends with it, while pg sends a Sync after each query. So this class binds and
 * executes two statements, as pg-cursor does, and overrides the methods that pg calls on every query: `submit` and
 * three `handle…` methods.
 *
 * A named statement is described once per connection, because its columns cannot change while it is prepared: further
 * runs only bind and execute. That saves an eighth of the processor time of a one-query read.
 */

export type Statement = {
  /** Undefined for a statement that is not prepared. */
  name: string | undefined;
  text: string;
  values: readonly unknown[];
};
type Callback = (error: Error | null, result: pg.QueryResult) => void;

type Base = {
  /** As in a query's config. */
  name: string | undefined;
  queryMode: string;
  submit(connection: pg.Connection): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
};
const Query = pg.Query as unknown as new (text: string, values: readonly unknown[], callback: Callback) => Base;

const scopeName = 'row_security_scope';

/** The columns of named statements on a connection, as the server described them. */
const descriptions = new WeakMap<pg.Connection, Map<string, unknown>>();

/** Values that go to the server as their text. */
const isPlain = (value: unknown): value is string | number | null =>
  value === null || typeof value === 'string' || typeof value === 'number';

/** Clients that are given another session with each transaction: what they prepare is lost. */
const sharing = new WeakSet<pg.ClientBase>();
export const shareSessions = (client: pg.ClientBase): void => void sharing.add(client);

class StatementQuery extends Query {
  readonly #scope: Scope | undefined;
  readonly #values: readonly unknown[];
  /** The statement that sets the scope is sent with it. */
  readonly #isSharing: boolean;
  /** The next answer is that of the scope's statement. */
  #isScoping: boolean;
  /** The map for the columns of this statement. */
  #described: Map<string, unknown> | undefined;

  constructor(
    { name, text, values }: Statement,
    { scope, isSharing }: { scope: Scope | undefined; isSharing: boolean },
    callback: Callback,
  ) {
    super(text, values, callback);
    this.name = isSharing ? undefined : name;
    this.#isSharing = isSharing;
    // A statement of the simple protocol would be outside the scope's implicit transaction.
    this.queryMode = 'extended';
    this.#values = values;
    this.#scope = scope;
    this.#isScoping = scope !== undefined;
  }

  override submit(connection: pg.Connection): void {
    if (this.#scope) {
      if (this.#isSharing) connection.parse({ name: '', text: setScope, types: [] }, true);
      connection.bind(
        { statement: this.#isSharing ? '' : scopeName, values: [this.#scope.role, this.#scope.company] },
        true,
      );
      connection.execute({}, true);
    }
    if (this.name === undefined) return super.submit(connection);
    let described = descriptions.get(connection);
    if (!described) descriptions.set(connection, (described = new Map()));
    const columns = described.get(this.name);
    const values = this.#values;
    if (columns === undefined || !values.every(isPlain)) {
      this.#described = described;
      return super.submit(connection);
    }
    this.handleRowDescription(columns);
    const texts = values.map((value) => (value === null ? null : String(value)));
    connection.bind({ statement: this.name, values: texts }, true);
    connection.execute({}, true);
    connection.sync();
  }

  override handleRowDescription(message: unknown): void {
    if (this.name !== undefined) this.#described?.set(this.name, message);
    super.handleRowDescription(message);
  }

  override handleDataRow(message: unknown): void {
    if (!this.#isScoping) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (this.#isScoping) this.#isScoping = false;
    else super.handleCommandComplete(message, connection);
  }
}

/** The clients on which the scope's statement is prepared. */
const prepared = new WeakSet<pg.ClientBase>();

/** Sends a statement; in a scope, it first prepares the scope's own statement on the connection. */
export function query(client: pg.ClientBase, statement: Statement, scope: Scope | undefined): Promise<pg.QueryResult> {
  const isSharing = sharing.has(client);
  if (scope && !isSharing && !prepared.has(client)) {
    prepared.add(client);
    // Alone it sets nothing that lasts. If it fails, the statement behind it fails too, and it is prepared again.
    client
      .query({ name: scopeName, text: setScope, values: [scope.role, scope.company] })
      .catch(() => void prepared.delete(client));
  }
  return new Promise((resolve, reject) => {
    const answer: Callback = (error, result) => (error ? reject(error) : resolve(result));
    client.query(new StatementQuery(statement, { scope, isSharing }, answer));
  });
}
