import { sql, type Kysely } from 'kysely';

/** Deliveries run in lanes, so that nothing that only needs the database waits behind mail that a provider does not take. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table deliveries add column lane text not null default 'database'`.execute(db);
  await sql`
    update deliveries set lane = 'mail'
    where reaction in ('send-code', 'send-reset-link', 'send-invitation', 'mention-mail')`.execute(db);
  await sql`
    create index deliveries_by_lane on deliveries (lane, due_at, delivery_id) where parked_at is null`.execute(db);
  await sql`drop index deliveries_by_due`.execute(db);
  // What was parked stays until an operator comes, and is counted with every look at the metrics.
  await sql`create index deliveries_parked on deliveries (delivery_id) where parked_at is not null`.execute(db);
}
