import pg from 'pg';
import { setScope, type Scope } from '../scope.ts';

/*
 * A query that pg runs as it runs its own, for two reasons. pg copies a plain config property by property, which costs more
 * than to send it. And row-level security sets a statement's scope in front of it, before the same Sync, so that both are one
 * implicit transaction and the scope ends with it, while pg sends a Sync behind each query. So this one binds and executes
 * two statements, as pg-cursor does, and overrides what pg calls on every query: `submit` and two `handle…` methods.
 */

export type Statement = {
  /** Undefined for one that is not kept. */
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
    // A statement of the simple protocol would not belong to the scope's transaction.
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

/** Sends a statement, in a scope behind what prepares the scope's own statement on its connection. */
export function query(client: pg.ClientBase, statement: Statement, scope: Scope | undefined): Promise<pg.QueryResult> {
  if (scope && !prepared.has(client)) {
    prepared.add(client);
    // Alone it sets nothing that lasts. Where it fails, so does the statement behind it, and it is prepared again.
    client
      .query({ name: scopeName, text: setScope, values: [scope.role, scope.company] })
      .catch(() => void prepared.delete(client));
  }
  return new Promise((resolve, reject) => {
    client.query(new StatementQuery(statement, scope, (error, result) => (error ? reject(error) : resolve(result))));
  });
}
