import { expect, test } from 'vitest';
import { createEventCache } from '../../server/events/event-cache.ts';
import {
  createSubscriber,
  subscriptionEvents,
  type SubscribedStream,
  type SubscriptionServices,
} from '../../server/events/subscription.ts';
import type { Db } from '../../db/open.ts';
import type { Member } from '../../server/kernel/context.ts';
import { SESSION_ENDED } from '../../server/errors/errors.ts';
import type { SubscribeOptions, StreamKind } from '../../server/kernel/streams.ts';
import { CommentEvent } from '../../server/features/comments/task-stream.ts';
import type { z } from 'zod';

type Event = z.infer<typeof CommentEvent>;

const kind: StreamKind<Event> = { name: 'task', event: CommentEvent, toEvents: async () => [] };
const at = '2026-11-21T12:00:00.000Z';
const eventOf = (id: number): Event => ({
  id,
  type: 'comment.liked',
  at,
  taskId: 7,
  commentId: 1,
  actorId: 2,
  comment: null,
});

/** A subscriber who has the first of three events; `readNext` finds the others. */
function subscribe(
  readNext: SubscriptionServices['reader']['readNext'],
  connection: Partial<SubscribeOptions['connection']> = {},
) {
  const given = new AbortController();
  const subscriber = createSubscriber(given.signal);
  const cache = createEventCache();
  const services = { db: {} as Db, clock: { now: () => new Date(at) }, cache, onSent: () => {} };
  const options = {
    subject: 7,
    viewer: { companyId: 1 } as Member,
    position: '1',
    connection: { ready: () => undefined, reserve: () => {}, ...connection } as SubscribeOptions['connection'],
    signal: given.signal,
  };
  const stream: SubscribedStream = {
    key: '1 task 7',
    companyId: 1,
    subject: 7,
    stream: 'task 7',
    kind,
    position: 3,
    subscribers: new Set([subscriber]),
  };
  const events = subscriptionEvents({ ...services, reader: { readNext } }, kind, options, {
    stream,
    subscriber,
    end: 3,
  });
  return { events, subscriber, cache, stop: () => given.abort() };
}

const away = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

test('a database that is away for a while ends no subscription', async () => {
  let tries = 0;
  const { events, cache, stop } = subscribe(async (_kind, { position }) => {
    tries += 1;
    if (tries === 1) throw away();
    return [cache.add('1 task 7', eventOf(position + 1) as never)];
  });
  const heard = [(await events.next()).value, (await events.next()).value];
  expect(heard.map((event) => event![0])).toEqual(['2', '3']);
  expect(tries).toBe(3);
  stop();
  expect((await events.next()).done).toBe(true);
});

test('a subscriber without access any more is told so while the database is unavailable', async () => {
  const { events, subscriber } = subscribe(async () => {
    throw away();
  });
  const next = events.next();
  subscriber.end(SESSION_ENDED());
  await expect(next).rejects.toThrow(/This session has ended/);
});

test('nothing is read for a subscriber while what was sent is not taken', async () => {
  let take = (): void => {};
  const taken = new Promise<void>((resolve) => (take = resolve));
  let isTaken = false;
  void taken.then(() => (isTaken = true));
  const read: boolean[] = [];
  const { events, cache } = subscribe(
    async (_kind, { position }) => {
      read.push(isTaken);
      return [cache.add('1 task 7', eventOf(position + 1) as never)];
    },
    { ready: () => (isTaken ? undefined : taken) },
  );
  const next = events.next();
  await new Promise((resolve) => setImmediate(resolve));
  expect(read).toEqual([]);
  take();
  expect((await next).value![0]).toBe('2');
  expect(read).toEqual([true]);
});
