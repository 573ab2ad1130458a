import { sql, type Kysely } from 'kysely';

/** Employees are told by mail, once, that an API key of theirs expires. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_keys add column expiry_mailed_at timestamptz`.execute(db);
  await sql`
    create index if not exists api_keys_expiring on api_keys (company_id, expires_at)
    where expires_at is not null and revoked_at is null and expiry_mailed_at is null`.execute(db);
  await sql`
    alter table company_mornings
      drop constraint company_mornings_step_check,
      add constraint company_mornings_step_check
        check (step in ('due_tomorrow', 'overdue', 'trial', 'period_end', 'expiring_keys', 'done'))`.execute(db);
}
