import { createHash } from 'node:crypto';
import type { CompiledQuery, PostgresPool, PostgresPoolClient, PostgresQueryResult, QueryResult } from 'kysely';
import type pg from 'pg';
import { query, type Statement } from './statement-query.ts';
import type { Scope } from '../scope.ts';
import { waitingOf } from '../silence.ts';

/**
 * After this many different statements further ones stay unnamed, so that no connection collects plans without limit.
 */
const namesMax = 1_000;

/** Names a parameterised statement by its text; undefined for one that stays unnamed. */
export type NameStatement = (text: string, values: readonly unknown[]) => string | undefined;

/**
 * A name makes the server parse and plan a statement once per connection; without names throughput is a fifth lower.
 * Kysely has no setting for it.
 */
export function createStatementNames(): NameStatement {
  const names = new Map<string, string>();
  return (text, values) => {
    if (values.length === 0) return undefined;
    const known = names.get(text);
    if (known !== undefined || names.size >= namesMax) return known;
    const name = createHash('sha256').update(text).digest('base64url').slice(0, 24);
    names.set(text, name);
    return name;
  };
}

const readOnlyTransaction = '25006';
/** Connections to a server that takes no writes, such as a standby: the pool must drop them instead of reusing them. */
const onStandby = new WeakSet<pg.ClientBase>();

/** The pool, with a name for every statement that can have one. */
export function withNamedStatements(pool: pg.Pool, nameOf: NameStatement): PostgresPool {
  const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  function wrap(client: pg.PoolClient): PostgresPoolClient {
    const existing = wrapped.get(client);
    if (existing) return existing;
    const wrapper = Object.assign(Object.create(client) as PostgresPoolClient, {
      release: (discard?: boolean) => client.release(discard === true || onStandby.has(client)),
      query: (text: string, values: readonly unknown[] = []): Promise<PostgresQueryResult<unknown>> => {
        const result = runStatement(client, { name: nameOf(text, values), text, values });
        return result as unknown as Promise<PostgresQueryResult<unknown>>;
      },
    });
    wrapped.set(client, wrapper);
    return wrapper;
  }

  return Object.assign(Object.create(pool) as PostgresPool, {
    connect: async () => wrap(await pool.connect()),
    end: () => pool.end(),
  });
}

/** Runs single statements, each on a connection of the pool and in its scope. */
export function scopedStatements(pool: pg.Pool, nameOf: NameStatement) {
  return async ({ sql: text, parameters: values }: CompiledQuery, scope: Scope): Promise<QueryResult<unknown>> => {
    const client = await pool.connect();
    try {
      const name = nameInScope(nameOf(text, values), scope);
      const { command, rowCount, rows } = await runStatement(client, { name, text, values }, scope);
      const isWrite = rowCount !== null && ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command);
      return { rows, ...(isWrite ? { numAffectedRows: BigInt(rowCount) } : {}) };
    } catch (error) {
      // pg's own stack ends at the socket; this one leads to the caller.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    } finally {
      client.release(onStandby.has(client));
    }
  };
}

/** Statements are prepared once per role, because a change of role makes PostgreSQL plan them again. */
export const nameInScope = (name: string | undefined, scope: Scope | undefined): string | undefined =>
  name === undefined || scope === undefined ? name : name + scope.mark;

/** Sends a statement, in a scope if row-level security is on. The statements of one tick leave in one write. */
export function runStatement(
  client: pg.ClientBase,
  { name, text, values: given }: Statement,
  scope?: Scope,
): Promise<pg.QueryResult> {
  sendTogether(client as pg.PoolClient);
  // Statements without parameters may be several in one text, such as BEGIN with its scope.
  const isPlain = name === undefined && scope === undefined;
  const answer = isPlain
    ? client.query(text, [...given])
    : query(client, { name, text, values: given.map(toParameter) }, scope);
  watch(client, answer);
  return answer;
}

/** Notes what a connection of a server waits for, and that its server takes no writes. */
function watch(client: pg.ClientBase, answer: Promise<unknown>): void {
  const waiting = waitingOf(client);
  if (!waiting) return;
  waiting.sent();
  answer.then(
    () => waiting.answered(),
    (error: { code?: unknown }) => {
      waiting.answered();
      if (error.code === readOnlyTransaction) onStandby.add(client);
    },
  );
}

/** Lists of numbers as PostgreSQL writes them; pg would quote and escape each. */
function toParameter(value: unknown): unknown {
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'number')) return value;
  return `{${value.join()}}`;
}

/** Buffers writes until the end of the tick and sends them as one. */
function sendTogether({ connection: { stream } }: pg.PoolClient): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
