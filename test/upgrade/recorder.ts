import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll } from 'vitest';

/*
 * Records the statements that the service sends while tests run: loaded by record.ts before each test file. Services of
 * tests run with row-level security, and the statements of a test itself run as the owner of the tables, in no scope. So
 * the statements that have a scope are those of the service. They are taken from the wire, where their order is certain.
 */

type Wire = {
  query(text: string): void;
  parse(statement: { name?: string; text: string }, ...rest: unknown[]): void;
  bind(portal: { statement?: string }, ...rest: unknown[]): void;
};
type State = { texts: Map<string, string>; isInTransaction: boolean; isScoped: boolean };

const states = new WeakMap<Wire, State>();

function stateOf(wire: Wire): State {
  let state = states.get(wire);
  if (!state) states.set(wire, (state = { texts: new Map(), isInTransaction: false, isScoped: false }));
  return state;
}

function record(wire: Wire): void {
  const { query, parse, bind } = wire;
  wire.query = function (this: Wire, text) {
    const state = stateOf(this);
    if (text.startsWith('begin; set local role')) state.isInTransaction = true;
    else if (/^(commit|rollback)\b/.test(text)) state.isInTransaction = false;
    else if (state.isInTransaction) texts.add(text);
    query.call(this, text);
  };
  wire.parse = function (this: Wire, statement, ...rest) {
    stateOf(this).texts.set(statement.name ?? '', statement.text);
    parse.call(this, statement, ...rest);
  };
  wire.bind = function (this: Wire, portal, ...rest) {
    const state = stateOf(this);
    const name = portal.statement ?? '';
    const text = state.texts.get(name)!;
    const isScope = text.includes("set_config('role'");
    if (!isScope && (state.isScoped || state.isInTransaction)) texts.add(text);
    state.isScoped = isScope;
    bind.call(this, portal, ...rest);
  };
}

const folder = process.env['RECORDED_STATEMENTS']!;
/** Test files share the process and its connections; this module is run for each of them. */
const shared = globalThis as { recordedStatements?: Set<string> };
const isFirst = shared.recordedStatements === undefined;
const texts = (shared.recordedStatements ??= new Set());
if (isFirst) record(pg.Connection.prototype);

afterAll(() => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify([...texts]));
});
