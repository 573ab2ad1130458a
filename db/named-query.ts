import pg from 'pg';

/*
 * pg asks at each run of a named statement what columns it answers, has the server send their names and types, and looks
 * up a parser for each: a good part of what a short read costs. PostgreSQL lets none of that change for as long as the
 * statement is prepared, so here it is learned at the first run on a connection, and the others only bind and execute.
 */

export type NamedStatement = { name: string; text: string; values: readonly unknown[] };
type Callback = (error: Error | null, result: pg.QueryResult) => void;

/** What pg knows of a statement's columns: internals of its results and queries, as of 8.23. */
type Shape = { fields: unknown; _parsers: unknown; _prebuiltEmptyResultObject: unknown };
type Internals = {
  name: string;
  values: unknown[];
  _result: Shape & { parseRow(fields: unknown): unknown; addRow(row: unknown): void };
  _canceledDueToError: unknown;
  prepare(connection: pg.Connection): void;
  hasBeenParsed(connection: pg.Connection): boolean;
  handleRowDescription(message: unknown): void;
  handleReadyForQuery(connection: pg.Connection): void;
};
const Query = pg.Query as unknown as new (text: string, callback: Callback) => pg.Query & Internals;

/** What is known on a connection, by the statement's name; null where it answers no rows. */
type Shapes = Map<string, Shape | null>;
const shapesByConnection = new WeakMap<pg.Connection, Shapes>();

/** For as long as one statement is sent, which nothing interrupts. */
let isDescribeLeftOut = false;

export class NamedQuery extends Query {
  /** Where to note what is learned. */
  #learning: Shapes | undefined;

  constructor({ name, text, values }: NamedStatement, callback: Callback) {
    super(text, callback);
    this.name = name;
    this.values = values.map(toParameter);
  }

  /** Runs a named statement on a client. */
  static run(client: pg.ClientBase, statement: NamedStatement): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      client.query(new NamedQuery(statement, (error, result) => (error ? reject(error) : resolve(result))));
    });
  }

  override prepare(connection: pg.Connection): void {
    const shapes = shapesByConnection.get(connection) ?? learnFrom(connection);
    const shape = shapes.get(this.name);
    if (shape === undefined || !this.hasBeenParsed(connection)) this.#learning = shapes;
    else if (shape) Object.assign(this._result, shape);
    isDescribeLeftOut = this.#learning === undefined;
    try {
      super.prepare(connection);
    } finally {
      isDescribeLeftOut = false;
    }
  }

  override handleRowDescription(message: unknown): void {
    super.handleRowDescription(message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    this.#learning?.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
    this.#learning = undefined;
  }

  /** As pg does it, without an event for each row. */
  handleDataRow(message: { fields: unknown }): void {
    if (this._canceledDueToError) return;
    try {
      this._result.addRow(this._result.parseRow(message.fields));
    } catch (error) {
      this._canceledDueToError = error;
    }
  }

  override handleReadyForQuery(connection: pg.Connection): void {
    this.#learning?.set(this.name, null);
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
