import pg from 'pg';
import { setScope, type Scope } from '../scope.ts';

/*
 * A query object for pg, for two reasons. pg copies a plain config property by property, which costs more than sending
 * it. And row-level security sends a statement's scope before it and before the same Sync, so that both form one
 * implicit transaction and the scope ends with it, while pg sends a Sync after each query. So this class binds and
 * executes two statements, as pg-cursor does, and overrides the methods that pg calls on every query: `submit` and two
 * `handle…` methods.
 */

export type Statement = {
  /** Undefined for a statement that is not prepared. */
  name: string | undefined;
  text: string;
  values: readonly unknown[];
};
type Callback = (error: Error | null, result: pg.QueryResult) => void;

type Base = {
  /** Undefined for a statement that is not prepared. */
  name: string | undefined;
  queryMode: string;
  submit(connection: pg.Connection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
};
const Query = pg.Query as unknown as new (text: string, values: readonly unknown[], callback: Callback) => Base;

const scopeName = 'row_security_scope';

class StatementQuery extends Query {
  readonly #scope: Scope | undefined;
  /** The next answer is that of the scope's statement. */
  #isScoping: boolean;

  constructor({ name, text, values }: Statement, scope: Scope | undefined, callback: Callback) {
    super(text, values, callback);
    this.name = name;
    // A statement of the simple protocol would be outside the scope's implicit transaction.
    this.queryMode = 'extended';
    this.#scope = scope;
    this.#isScoping = scope !== undefined;
  }

  override submit(connection: pg.Connection): void {
    if (this.#scope) {
      connection.bind({ statement: scopeName, values: [this.#scope.role, this.#scope.company] }, true);
      connection.execute({}, true);
    }
    return super.submit(connection);
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
  if (scope && !prepared.has(client)) {
    prepared.add(client);
    // Alone it sets nothing that lasts. If it fails, the statement behind it fails too, and it is prepared again.
    client
      .query({ name: scopeName, text: setScope, values: [scope.role, scope.company] })
      .catch(() => void prepared.delete(client));
  }
  return new Promise((resolve, reject) => {
    client.query(new StatementQuery(statement, scope, (error, result) => (error ? reject(error) : resolve(result))));
  });
}
