import { sql } from 'kysely';
import type { Db } from './transaction.ts';

/**
 * Has new rows of the audit log go on behind all stored ones, where this server's transaction identifiers are lower: a dump of
 * another server was restored on it. Runs before the service does.
 */
export async function continueAuditClock(db: Db): Promise<void> {
  await sql`
    update audit_clock set xid_offset = stored.xid + 1
    from (
      select greatest(max(l.xid), max(s.to_xid), 0) as xid
      from (select 0::bigint as company_id union all select company_id from companies) as c
      left join lateral (
        select xid from audit_log as a where a.company_id = c.company_id order by a.xid desc limit 1
      ) as l on true
      left join lateral (
        select to_xid from audit_seals as a where a.company_id = c.company_id order by a.seal_id desc limit 1
      ) as s on true
    ) as stored
    where stored.xid > pg_snapshot_xmax(pg_current_snapshot())::text::bigint + xid_offset`.execute(db);
}
