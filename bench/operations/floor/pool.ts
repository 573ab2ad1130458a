import pg from 'pg';
import { columnTypes } from '../../../db/column-types.ts';
import { setting } from '../sides/side.ts';

export type Run = <Row extends pg.QueryResultRow>(
  name: string,
  text: string,
  values: readonly unknown[],
) => Promise<Row[]>;

/** As many connections as the service has. */
const pool = new pg.Pool({ connectionString: setting('DATABASE_URL'), max: 10, types: columnTypes });

const runOn =
  (client: pg.Pool | pg.PoolClient): Run =>
  async <Row extends pg.QueryResultRow>(name: string, text: string, values: readonly unknown[]) =>
    (await client.query<Row>({ name, text, values: [...values] })).rows;

/** Runs a statement, prepared once on each connection under its name. */
export const run = runOn(pool);

export async function inTransaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(runOn(client));
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}
