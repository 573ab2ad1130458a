import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../platform/log.ts';
import { CannotStart } from './cannot-start.ts';

/** How many connections this node may hold: for requests and jobs, for long reads, for pipelined ones, and one that listens. */
function connectionsOf({ DATABASE_CONNECTIONS: own, DATABASE_READ_CONNECTIONS: reads }: Config): number {
  return own + (reads === 0 ? 0 : Math.ceil(own / 2) + reads) + 1;
}

/** Refuses a start with more connections than the server gives, and warns where other nodes and programs leave too few. */
export async function checkConnections(db: Db, config: Config, logger?: Logger): Promise<void> {
  const { rows } = await sql<{ limit: number; used: number }>`
    select
      least(
        current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
        nullif(rolconnlimit, -1)
      ) as limit,
      (
        select count(*)::integer from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()
      ) as used
    from pg_roles where rolname = session_user`.execute(db);
  const { limit, used } = rows[0]!;
  const needed = connectionsOf(config);
  if (needed > limit)
    throw new CannotStart(
      `This node may hold ${needed} connections, and the database server gives ${limit}: lower DATABASE_CONNECTIONS, or raise max_connections.`,
    );
  if (used + needed > limit)
    logger?.warn({ needed, used, limit }, 'the database server may run out of connections: see Several nodes');
}
