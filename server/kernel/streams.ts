import type { TrackedEnvelope } from '@trpc/server';
import { z } from 'zod';
import type { Db } from '../../db/open.ts';
import type { Connection } from './connections.ts';
import type { Member, Settings } from './context.ts';
import { moment } from './wire.ts';

/**
 * Vocabulary. A *fact* is written into a *stream* in the transaction that makes it true (publish.ts); shown to somebody
 * it is an *event*. A *kind* of stream says how. The facts of one stream are numbered without gaps in the order of
 * their commits, and a *cursor* is the number of the last one that a subscriber has.
 */
export type StoredFact = {
  companyId: number;
  stream: string;
  sequence: number;
  type: string;
  payload: unknown;
  at: Date;
};

/** What every event has. */
export type StreamEvent = { id: number; type: string; at: string };

/** One stream of a kind: `task 12` is about the subject 12. */
export type StreamName = { companyId: number; subject: number };

export type StreamKind<Event extends StreamEvent> = {
  /** What its streams are called before the number: `task` for `task 12`. */
  name: string;
  /** Its events; nothing that is not in there gets out. */
  event: z.ZodType<Event>;
  /** Shows facts of one company, of any streams of this kind, in their order; once for all who listen. */
  show(services: { db: Db; settings: Settings }, companyId: number, facts: StoredFact[]): Promise<unknown[]>;
  /** About how many bytes each of these will take when it is shown; left out where none takes many. */
  weigh?(db: Db, companyId: number, facts: StoredFact[]): Promise<number[]>;
  /** What is different for each viewer. */
  forViewer?(event: Event, viewer: Member): Event;
  /** Asked again and again: which of these may still be listened to. Left out where nothing but the caller decides. */
  findReadable?(db: Db, streams: StreamName[]): Promise<StreamName[]>;
};

/** Said by the service itself, in any stream. */
const saying = <Type extends string>(type: Type) => ({
  id: z.int().nonnegative().meta({ description: 'The number of the latest event of the stream' }),
  type: z.literal(type),
  at: moment,
});

/** What was missed is no longer kept: read the things themselves again. What follows is complete. */
export const StreamReset = z
  .object(saying('stream.reset'))
  .meta({ id: 'stream.reset', description: 'What was missed is no longer kept: read the list again.' });

/** Answered to `lastEventId: "now"`. */
export const StreamOpened = z.object(saying('stream.opened')).meta({
  id: 'stream.opened',
  description:
    'Only for `lastEventId: "now"`: where the stream stands, so that a cut before its next event loses none.',
});

/** The fields with which every event of a stream begins. */
export const eventFields = <Type extends string>(type: Type) => ({
  id: z
    .int()
    .positive()
    .meta({ description: 'Its number in the stream: one more than the event before, in the order of commits' }),
  type: z.literal(type),
  at: moment.meta({ description: 'When it happened' }),
});

/** Where to go on: the `id` of the last event that the caller has. */
export const lastEventId = z
  .union([z.literal('now'), z.string().regex(/^(0|[1-9]\d{0,15})$/, 'must be the id of an event, or now')])
  .nullish()
  .meta({
    description:
      'The id of the last event that the caller has; what came after it is sent first. Without it the subscription begins with what happens from now on; `now` does the same and says first where that is.',
  });

export type Position = z.infer<typeof lastEventId>;

export type Follow = {
  subject: number;
  viewer: Member;
  position: Position;
  connection: Connection;
  signal: AbortSignal;
};

export type Streams = {
  /** The events of a stream from now on or from the position on, until the signal, the caller's session or their right to it ends. */
  follow<Event extends StreamEvent>(
    kind: StreamKind<Event>,
    follow: Follow,
  ): Promise<AsyncGenerator<TrackedEnvelope<Event>, void>>;
  /** Something was committed to these. */
  wake(streams: readonly string[]): void;
  /** How many events this process has sent. */
  countSent(): number;
};

/** How a stream is called among all companies'. */
export const keyOf = (companyId: number, stream: string): string => `${companyId} ${stream}`;
