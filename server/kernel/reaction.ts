import type { z } from 'zod';
import type { Mailer } from '../mail/mailer.ts';
import type { Services } from './context.ts';
import type { Db } from '../../db/open.ts';

/**
 * Vocabulary. A reaction is what the service owes the outside, or other rows, because of a fact: a mail, notifications.
 * A delivery is one reaction with its payload, written in the transaction of the fact and run by a worker
 * after it commits, at least once, whatever fails meanwhile.
 */
export type ReactionServices = Pick<Services, 'database' | 'clock' | 'log' | 'settings' | 'tokens'> & {
  mailer: Mailer;
  /** Writes deliveries that follow from this one. */
  wakeDeliveries(): void;
};

export type Reaction<Payload = unknown> = {
  readonly name: string;
  readonly payload: z.ZodType<Payload>;
  /** Runs at least once for each delivery: what it does twice must show once. `dedupeKey` is the same at every try. */
  run(services: ReactionServices, payload: Payload, delivery: { dedupeKey: string; createdAt: Date }): Promise<void>;
};

/** Declares a reaction. Its payload names things by identifier and never holds a secret: those are made when it runs. */
export function reaction<Payload>(definition: Reaction<Payload>): Reaction<Payload> {
  return definition;
}

/** Writes a delivery, in the transaction of what causes it. The same key a second time writes nothing. */
export async function deliver<Payload>(
  db: Db,
  { name, payload: schema }: Reaction<Payload>,
  delivery: { dedupeKey: string; payload: Payload; now: Date },
): Promise<void> {
  const { dedupeKey, payload, now } = delivery;
  await db
    .insertInto('deliveries')
    .values({
      reaction: name,
      dedupe_key: `${name} ${dedupeKey}`,
      payload: JSON.stringify(schema.parse(payload)),
      due_at: now,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('dedupe_key').doNothing())
    .execute();
}
