import pg from 'pg';

/*
 * A pooler in transaction mode (PgBouncer) gives a connection another session of the server with each transaction. So nothing
 * may outlive a transaction: no prepared statement, no setting, no advisory lock, no LISTEN. What needs a session of its own
 * (migrations, notifications of events) goes to the server directly.
 */

/** What statements are run with. Through a pooler it cannot be asked for by a connection, so the pooler or the role sets it. */
export const sessionSettings = {
  jit: 'off',
  statement_timeout: '30000',
  lock_timeout: '10000',
  idle_in_transaction_session_timeout: '60000',
} as const;

const patienceMs = 5_000;
const rounds = 3;

/** Whether connections to the URL share sessions of the server. */
export async function sharesSessions(url: string): Promise<boolean> {
  const config = { connectionString: url, connectionTimeoutMillis: patienceMs, query_timeout: patienceMs };
  const [one, other] = [new pg.Client(config), new pg.Client(config)];
  for (const client of [one, other]) client.on('error', () => {});
  try {
    await Promise.all([one.connect(), other.connect()]);
    for (let round = 0; round < rounds; round += 1) {
      const before = await sessionOf(one);
      await other.query('begin');
      // A session that is free goes to who asks next, and one that is in a transaction to nobody.
      if ((await sessionOf(other)) === before || (await sessionOf(one)) !== before) return true;
      await other.query('commit');
    }
    return false;
  } finally {
    await Promise.all([one.end(), other.end()]);
  }
}

async function sessionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]!.pid;
}

/** What the sessions behind a pooler lack, as `name to value`: other limits than ours will do, and none will not. */
export async function listMissingSettings(url: string): Promise<string[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string; setting: string }>('select name, setting from pg_settings');
    const found = new Map(rows.map(({ name, setting }) => [name, setting]));
    return Object.entries(sessionSettings).flatMap(([name, value]) =>
      found.get(name) === value || (value !== 'off' && found.get(name) !== '0') ? [] : `${name} to ${value}`,
    );
  } finally {
    await client.end();
  }
}
