import { sql } from 'kysely';
import type { Db } from './transaction.ts';

/** More than one database ever gives out between two backups, and far below the largest number of JavaScript. */
const gap = 1_000_000_000;

/**
 * Makes a restored database give out no number a second time. Between backup and restore it gave out numbers that it does not
 * know of: subscribers hold those of events, and signed tokens those of sessions, which would otherwise be somebody else's.
 *
 * - Each stream goes on behind a gap, so a cursor of before finds no next event and its subscriber gets `stream.reset`.
 * - Identifiers go on behind the gap too, so a task or person who is created has a stream that never existed.
 */
export async function leaveGap(db: Db): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    // Each statement is about all rows of a table.
    await sql`set local statement_timeout = 0`.execute(transaction);
    // Those about which nothing was appended until the backup are among them.
    await sql`
      insert into event_streams (company_id, stream, last_sequence)
      select company_id, 'task ' || task_id, 0 from tasks
      union all select company_id, 'project ' || project_id, 0 from projects
      union all select company_id, kind || employee_id, 0 from employees, unnest(array['recipient ', 'timers ']) as kind
      union all select company_id, kind || company_id, 0
      from companies, unnest(array['company ', 'periods ', 'projects ']) as kind
      on conflict (company_id, stream) do nothing`.execute(transaction);
    await sql`update event_streams set last_sequence = last_sequence + ${gap}::bigint`.execute(transaction);
    await sql`
      select setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + ${gap}::bigint)
      from pg_sequences where schemaname = 'public'`.execute(transaction);
  });
}
