import type { TrackedEnvelope } from '@trpc/server';
import { z } from 'zod';
import type { Db } from '../../db/open.ts';
import type { Connection } from '../platform/connection.ts';
import type { Member, Settings } from './context.ts';
import { moment } from './wire/moments.ts';

/*
 * An event is appended to a stream in the transaction of its cause (append-event.ts). A stream belongs to a company and has a
 * kind and a subject: `task 12` is of the kind `task` and about task 12. Its events are numbered without gaps in the order of
 * their commits, and a cursor is the number of the last event that a subscriber has. The kind turns stored events into the
 * events that subscribers receive. server/events/dispatcher.ts says how they get there.
 */
export type StoredEvent = {
  companyId: number;
  stream: string;
  sequence: number;
  type: string;
  payload: unknown;
  at: Date;
};

/** The fields that every event has. */
export type StreamEvent = { id: number; type: string; at: string };

/** One stream of a kind. */
export type StreamName = { companyId: number; subject: number };

export type StreamKind<Event extends StreamEvent> = {
  /** The part of a stream's name before the subject: `task` in `task 12`. */
  name: string;
  /** Parses every event before it is sent, so subscribers receive declared fields only. */
  event: z.ZodType<Event>;
  /** Turns events of one company and any streams of this kind into what subscribers receive, once for all of them. */
  toEvents(services: { db: Db; settings: Settings }, companyId: number, stored: StoredEvent[]): Promise<unknown[]>;
  /** Estimates the JSON length of each, so that long ones are read in small batches; omitted if none is long. */
  estimateBytes?(db: Db, companyId: number, stored: StoredEvent[]): Promise<number[]>;
  /** Adds what differs between subscribers. */
  forViewer?(event: Event, viewer: Member): Event;
  /** Returns the streams whose subject can still be read; omitted if only the subscriber's session decides. */
  findReadable?(db: Db, streams: StreamName[]): Promise<StreamName[]>;
};

/** An event of the subscription itself, which any stream may send. */
const serviceEvent = <Type extends string>(type: Type) => ({
  id: z.int().nonnegative().meta({ description: 'The number of the latest event of the stream' }),
  type: z.literal(type),
  at: moment,
});

/** Sent when missed events are no longer stored: the subscriber reads the list again, and loses nothing after it. */
export const StreamReset = z
  .object(serviceEvent('stream.reset'))
  .meta({ id: 'stream.reset', description: 'What was missed is no longer kept: read the list again.' });

/** Sent first to a subscriber with `lastEventId: "now"`. */
export const StreamOpened = z.object(serviceEvent('stream.opened')).meta({
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

/** The cursor of the caller: the `id` of the last event it has. */
export const lastEventId = z
  .string()
  .regex(/^(now|0|[1-9]\d{0,15})$/, 'must be the id of an event, or now')
  .nullish()
  .meta({
    description:
      'The id of the last event that the caller has; what came after it is sent first. Without it the subscription begins with what happens from now on; `now` does the same and says first where that is.',
  });

export type Position = z.infer<typeof lastEventId>;

export type SubscribeOptions = {
  subject: number;
  viewer: Member;
  position: Position;
  connection: Connection;
  signal: AbortSignal;
};

export type Streams = {
  /** The events of a stream after the position, or from now on, until the signal is aborted or access to the stream ends. */
  subscribe<Event extends StreamEvent>(
    kind: StreamKind<Event>,
    options: SubscribeOptions,
  ): Promise<AsyncGenerator<TrackedEnvelope<Event>, void>>;
  /** Tells the subscribers of these streams, by their keys, that events were committed. */
  notify(streamKeys: readonly string[]): void;
  /** How many events this process has sent. */
  countSent(): number;
};

/** The name of a stream among the streams of all companies. */
export const streamKey = (companyId: number, stream: string): string => `${companyId} ${stream}`;
