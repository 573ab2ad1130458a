import { sql } from 'kysely';
import type { z } from 'zod';
import type { Mailer } from '../mail/mailer.ts';
import type { Services } from './context.ts';
import { compiled } from '../../db/compiled.ts';
import type { Db } from '../../db/open.ts';

/**
 * Vocabulary. A reaction is what the service owes the outside, or other rows, because of a fact: a mail, notifications.
 * A delivery is one reaction with its payload, written in the transaction of the fact and run by a worker
 * after it commits, at least once, whatever fails meanwhile. Reactions run in lanes, side by side: those that send mail
 * wait for a provider, and those that need nothing but the database never wait for them.
 */
export const lanes = ['database', 'mail'] as const;
export type Lane = (typeof lanes)[number];

export type ReactionServices = Pick<Services, 'database' | 'clock' | 'log' | 'settings' | 'tokens' | 'streams'> & {
  mailer: Mailer;
  /** Writes deliveries that follow from this one. */
  wakeDeliveries(): void;
};

export type Delivery = {
  /** The same at every try, so that a provider can tell a second one. */
  dedupeKey: string;
  /** When the fact happened. */
  createdAt: Date;
};

/** A reaction with its payload's type hidden: it checks what it is given. */
export type AnyReaction = {
  readonly name: string;
  readonly lane: Lane;
  /** Runs at least once for each delivery: what it does twice must show once. */
  run(services: ReactionServices, payload: unknown, delivery: Delivery): Promise<void>;
};

export type Reaction<Payload> = AnyReaction & { readonly payload: z.ZodType<Payload> };

/** Declares a reaction. Its payload names things by identifier and never holds a secret: those are made when it runs. */
export function reaction<Payload>(definition: {
  name: string;
  /** `mail` for one that sends mail; left out, it needs nothing but the database. */
  lane?: Lane;
  payload: z.ZodType<Payload>;
  run(services: ReactionServices, payload: Payload, delivery: Delivery): Promise<void>;
}): Reaction<Payload> {
  const { name, lane = 'database', payload } = definition;
  return {
    name,
    lane,
    payload,
    run: (services, given, delivery) => definition.run(services, payload.parse(given), delivery),
  };
}

/**
 * Writes a delivery, in the transaction of what causes it, to be run at once or when it is due. The same key a second
 * time writes nothing.
 */
export async function deliver<Payload>(
  db: Db,
  { name, lane, payload: schema }: Reaction<Payload>,
  delivery: { dedupeKey: string; payload: Payload; now: Date; dueAt?: Date },
): Promise<void> {
  const { dedupeKey, payload, now, dueAt = now } = delivery;
  await writeDelivery(db, {
    reaction: name,
    lane,
    dedupe_key: `${name} ${dedupeKey}`,
    payload: JSON.stringify(schema.parse(payload)),
    due_at: dueAt,
    created_at: now,
  });
}

/** Writes many deliveries of one reaction, due at once, in one statement. */
export async function deliverAll<Payload>(
  db: Db,
  { name, lane, payload: schema }: Reaction<Payload>,
  deliveries: readonly { dedupeKey: string; payload: Payload }[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return;
  const keys = deliveries.map(({ dedupeKey }) => `${name} ${dedupeKey}`);
  const payloads = deliveries.map(({ payload }) => JSON.stringify(schema.parse(payload)));
  await sql`
    insert into deliveries (reaction, lane, dedupe_key, payload, due_at, created_at)
    select ${name}, ${lane}, dedupe_key, payload::jsonb, ${now}, ${now}
    from unnest(${keys}::text[], ${payloads}::text[]) as given (dedupe_key, payload)
    on conflict (dedupe_key) do nothing`.execute(db);
}

type DeliveryValues = {
  reaction: string;
  lane: Lane;
  dedupe_key: string;
  payload: string;
  due_at: Date;
  created_at: Date;
};

const writeDelivery = compiled<DeliveryValues, object>((db, blank) =>
  db
    .insertInto('deliveries')
    .values({
      reaction: blank('reaction'),
      lane: blank('lane'),
      dedupe_key: blank('dedupe_key'),
      payload: blank('payload'),
      due_at: blank('due_at'),
      created_at: blank('created_at'),
    })
    .onConflict((conflict) => conflict.column('dedupe_key').doNothing())
    .compile(),
);
