import pg from 'pg';
import { setScope, type Scope } from './scope.ts';

/*
 * pg asks at each run of a named statement what columns it answers, has the server send their names and types, and looks
 * up a parser for each: a good part of what a short read costs. PostgreSQL lets none of that change for as long as the
 * statement is prepared, so here it is learned at the first run on a connection, and the others only bind and execute.
 */

export type NamedStatement = {
  /** Undefined for one that is not kept. */
  name: string | undefined;
  text: string;
  values: readonly unknown[];
  /** For whom it runs, where row security is on. */
  scope?: Scope | undefined;
};
type Callback = (error: Error | null, result: pg.QueryResult) => void;

/** What pg knows of a statement's columns: internals of its results and queries, as of 8.23. */
type Shape = { fields: unknown; _parsers: unknown; _prebuiltEmptyResultObject: unknown };
type Internals = {
  name: string | undefined;
  queryMode: string | undefined;
  values: unknown[];
  _result: Shape & { parseRow(fields: unknown): unknown; addRow(row: unknown): void };
  _canceledDueToError: unknown;
  prepare(connection: pg.Connection): void;
  hasBeenParsed(connection: pg.Connection): boolean;
  handleRowDescription(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
  handleReadyForQuery(connection: pg.Connection): void;
};
const Query = pg.Query as unknown as new (text: string, callback: Callback) => pg.Query & Internals;

/** What is known on a connection, by the statement's name; null where it answers no rows. */
type Shapes = Map<string, Shape | null>;
const shapesByConnection = new WeakMap<pg.Connection, Shapes>();

/** For as long as one statement is sent, which nothing interrupts. */
let isDescribeLeftOut = false;

const scopeName = 'row_security_scope';
/** What pg knows of a connection's statements, and sends to it: internals as well. */
type Connection = Record<'parsedStatements' | 'submittedNamedStatements', Record<string, string>> & {
  bind(message: { portal: string; statement: string; values: string[]; valueMapper(value: string): string }): void;
  execute(message: { portal: string; rows: number }): void;
};
const isPrepared = ({ parsedStatements, submittedNamedStatements }: Connection): boolean =>
  parsedStatements[scopeName] !== undefined || submittedNamedStatements[scopeName] !== undefined;

export class NamedQuery extends Query {
  /** Where to note what is learned. */
  #learning: Shapes | undefined;
  #scope: Scope | undefined;
  /** The next answer is that of the scope's statement. */
  #isScoping = false;

  constructor({ name, text, values, scope }: NamedStatement, callback: Callback) {
    super(text, callback);
    this.name = name;
    this.queryMode = 'extended';
    this.values = values.map(toParameter);
    this.#scope = scope;
  }

  /** Sends a statement, behind what its scope needs to be prepared on the connection. */
  static send(client: pg.ClientBase, statement: NamedStatement, callback: Callback): void {
    const { scope } = statement;
    // Alone it sets nothing that lasts. Where it fails, so does the statement behind it.
    if (scope && !isPrepared((client as unknown as { connection: Connection }).connection))
      client.query(new NamedQuery({ name: scopeName, text: setScope, values: [scope.role, scope.company] }, () => {}));
    client.query(new NamedQuery(statement, callback));
  }

  /** Runs a statement on a client. */
  static run(client: pg.ClientBase, statement: NamedStatement): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      NamedQuery.send(client, statement, (error, result) => (error ? reject(error) : resolve(result)));
    });
  }

  override prepare(connection: pg.Connection): void {
    if (this.#scope) this.#setScope(connection as unknown as Connection, this.#scope);
    const shapes = shapesByConnection.get(connection) ?? learnFrom(connection);
    const shape = this.name === undefined ? undefined : shapes.get(this.name);
    if (shape === undefined || !this.hasBeenParsed(connection)) this.#learning = shapes;
    else if (shape) Object.assign(this._result, shape);
    isDescribeLeftOut = this.#learning === undefined;
    try {
      super.prepare(connection);
    } finally {
      isDescribeLeftOut = false;
    }
  }

  /** Both statements end with one Sync, so they are one transaction: what is set ends with it. */
  #setScope(connection: Connection, { role, company }: Scope): void {
    this.#isScoping = true;
    connection.bind({ portal: '', statement: scopeName, values: [role, company], valueMapper: (value) => value });
    connection.execute({ portal: '', rows: 0 });
  }

  override handleRowDescription(message: unknown): void {
    super.handleRowDescription(message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    if (this.name !== undefined) this.#learning?.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
    this.#learning = undefined;
  }

  /** As pg does it, without an event for each row. */
  handleDataRow(message: { fields: unknown }): void {
    if (this._canceledDueToError || this.#isScoping) return;
    try {
      this._result.addRow(this._result.parseRow(message.fields));
    } catch (error) {
      this._canceledDueToError = error;
    }
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (this.#isScoping) this.#isScoping = false;
    else super.handleCommandComplete(message, connection);
  }

  override handleReadyForQuery(connection: pg.Connection): void {
    if (this.name !== undefined) this.#learning?.set(this.name, null);
    super.handleReadyForQuery(connection);
  }
}

/** Lists of numbers as PostgreSQL writes them; pg would quote and escape each. */
function toParameter(value: unknown): unknown {
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'number')) return value;
  return `{${value.join()}}`;
}

function learnFrom(connection: pg.Connection): Shapes {
  const shapes: Shapes = new Map();
  shapesByConnection.set(connection, shapes);
  const describe = connection.describe.bind(connection);
  connection.describe = (message, more) => {
    if (!isDescribeLeftOut) describe(message, more);
  };
  return shapes;
}
