import { sql, type RawBuilder } from 'kysely';
import type { Database, Db } from '../../db/open.ts';
import { transact } from '../../db/transaction.ts';

/** A message that this process, and no other, may send until its lease ends. */
export type ClaimedMessage = {
  companyId: number;
  webhookId: number;
  messageId: number;
  /** The header `webhook-id`. */
  publicId: string;
  type: string;
  stream: string | null;
  sequence: number | null;
  payload: unknown;
  at: Date;
  /** The number of this attempt. It also tells this lease from every other lease of the message. */
  attempt: number;
  url: string;
  sealedSecret: Buffer;
  /** The secret from before a rotation, while it signs too. */
  sealedPreviousSecret: Buffer | null;
};

/** A webhook, by its place in the circle of all that have messages. */
export type Endpoint = { companyId: number; webhookId: number };

/** Requests in flight to one endpoint, in all processes together. One that fails gets them one by one. */
const inFlightMax = 4;
/** Longer than an attempt takes with all its statements, so it is not renewed. */
const leaseMs = 30_000;
/** So many endpoints with pending messages are looked at in one statement. */
const lookedAtMax = 500;

const beforeAll: Endpoint = { companyId: 0, webhookId: 0 };

/*
 * The values are literals, so that the statements have no name and are planned at each call: a plan kept from an empty table
 * would read the whole table.
 */
const moment = (at: Date): RawBuilder<unknown> => sql`${sql.lit(at.toISOString())}::timestamptz`;
const isFree = (now: RawBuilder<unknown>) =>
  sql`state = 'pending' and due_at <= ${now} and (leased_until is null or leased_until < ${now})`;
/** How many more requests the endpoint `w` may get. */
const freeRequests = (now: RawBuilder<unknown>) => sql`
  case when w.failing_since is null then ${sql.lit(inFlightMax)} else 1 end - (
    select count(*) from webhook_messages as m
    where m.company_id = w.company_id and m.webhook_id = w.webhook_id and m.leased_until >= ${now}
  )`;

/**
 * Finds endpoints with due messages that may get a request, in the order of the circle from the one after `after` on: few looks
 * into the index for each that has pending messages, however many. Returns where to go on, or undefined at the end of the circle.
 */
export async function findDueEndpoints(
  db: Db,
  now: Date,
  after: Endpoint = beforeAll,
): Promise<{ due: Endpoint[]; next: Endpoint | undefined }> {
  const nextAfter = (company: RawBuilder<unknown>, webhook: RawBuilder<unknown>) => sql`
    select company_id, webhook_id from webhook_messages
    where state = 'pending' and (company_id, webhook_id) > (${company}, ${webhook})
    order by company_id, webhook_id limit 1`;
  const { rows } = await sql<Endpoint & { isDue: boolean }>`
    with recursive circle (company_id, webhook_id, place) as (
      select first.company_id, first.webhook_id, 1
      from (${nextAfter(sql.lit(after.companyId), sql.lit(after.webhookId))}) as first
      union all
      select next.company_id, next.webhook_id, c.place + 1
      from circle as c cross join lateral (${nextAfter(sql`c.company_id`, sql`c.webhook_id`)}) as next
      where c.place < ${sql.lit(lookedAtMax)}
    )
    select company_id as "companyId", webhook_id as "webhookId", exists (
      select from webhooks as w where w.company_id = c.company_id and w.webhook_id = c.webhook_id and w.is_enabled
        and ${freeRequests(moment(now))} > 0
    ) and exists (
      select from webhook_messages as m
      where m.company_id = c.company_id and m.webhook_id = c.webhook_id and ${isFree(moment(now))}
    ) as "isDue"
    from circle as c order by place`.execute(db);
  const due = rows.filter(({ isDue }) => isDue).map(({ companyId, webhookId }) => ({ companyId, webhookId }));
  return { due, next: rows.length < lookedAtMax ? undefined : rows.at(-1) };
}

/**
 * Leases messages of these endpoints that are due, up to four in flight for each and `count` in all, the first one of each before
 * any second one. The endpoints are locked by a statement of their own: the next one then sees the leases that another process
 * took before it got the locks.
 */
export async function claimMessages(
  database: Database,
  endpoints: readonly Endpoint[],
  { count, now }: { count: number; now: Date },
): Promise<ClaimedMessage[]> {
  const given = sql`select * from unnest(
    ${sql.lit(`{${endpoints.map((one) => one.companyId).join()}}`)}::bigint[],
    ${sql.lit(`{${endpoints.map((one) => one.webhookId).join()}}`)}::bigint[])`;
  return transact(database.acrossCompanies, async (db) => {
    const { rows: locked } = await sql<Endpoint>`
      select company_id as "companyId", webhook_id as "webhookId" from webhooks
      where (company_id, webhook_id) in (${given}) and is_enabled
      order by company_id, webhook_id for no key update skip locked`.execute(db);
    return locked.length === 0 ? [] : leaseMessages(db, locked, { count, now });
  });
}

async function leaseMessages(
  db: Db,
  endpoints: readonly Endpoint[],
  { count, now }: { count: number; now: Date },
): Promise<ClaimedMessage[]> {
  const atNow = moment(now);
  const places = sql.join(
    endpoints.map(({ companyId, webhookId }) => sql`(${sql.lit(companyId)}::bigint, ${sql.lit(webhookId)}::bigint)`),
  );
  const { rows } = await sql<ClaimedMessage>`
    with endpoints as materialized (
      select company_id, webhook_id, w.url, w.sealed_secret, w.sealed_previous_secret, w.previous_secret_until,
        ${freeRequests(atNow)} as free
      from webhooks as w join (values ${places}) as locked (company_id, webhook_id) using (company_id, webhook_id)
    ), due as materialized (
      select e.company_id, m.message_id from endpoints as e cross join lateral (
        select due_at, message_id from webhook_messages as m
        where m.company_id = e.company_id and m.webhook_id = e.webhook_id and ${isFree(atNow)}
        order by m.due_at, m.message_id limit greatest(e.free, 0) for update skip locked
      ) as m
      order by row_number() over (partition by e.company_id, e.webhook_id order by m.due_at, m.message_id) limit ${sql.lit(count)}
    )
    update webhook_messages as m set leased_until = ${moment(new Date(now.getTime() + leaseMs))}, attempts = attempts + 1
    from due join endpoints as e using (company_id)
    where m.company_id = due.company_id and m.message_id = due.message_id and e.webhook_id = m.webhook_id
    returning m.company_id as "companyId", m.webhook_id as "webhookId", m.message_id as "messageId",
      m.public_id as "publicId", m.type, m.stream, m.sequence, m.payload, m.at, m.attempts as attempt, e.url,
      e.sealed_secret as "sealedSecret",
      case when e.previous_secret_until > ${atNow} then e.sealed_previous_secret end as "sealedPreviousSecret"`.execute(
    db,
  );
  return rows;
}
