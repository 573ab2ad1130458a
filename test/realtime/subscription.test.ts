import { expect, test } from 'vitest';
import { createFollower } from '../../server/delivery/follower.ts';
import { createRecent } from '../../server/delivery/recent.ts';
import { subscription, type SubscriptionServices } from '../../server/delivery/subscription.ts';
import type { Db } from '../../db/open.ts';
import type { Member } from '../../server/kernel/context.ts';
import { SESSION_ENDED } from '../../server/kernel/faults.ts';
import type { Follow, StreamKind } from '../../server/kernel/streams.ts';
import { CommentEvent } from '../../server/features/comments/task-stream.ts';
import type { z } from 'zod';

type Event = z.infer<typeof CommentEvent>;

const kind: StreamKind<Event> = { name: 'task', event: CommentEvent, show: async () => [] };
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

/** A subscriber who has the first of three events; `readOn` finds the others. */
function subscribe(readOn: SubscriptionServices['reader']['readOn'], connection: Partial<Follow['connection']> = {}) {
  const given = new AbortController();
  const follower = createFollower(given.signal);
  const recent = createRecent();
  const services = { db: {} as Db, clock: { now: () => new Date(at) }, recent, onSent: () => {} };
  const follow = {
    subject: 7,
    viewer: { companyId: 1 } as Member,
    position: '1',
    connection: { ready: () => undefined, expect: () => {}, ...connection } as Follow['connection'],
    signal: given.signal,
  };
  const place = { follower, end: 3, newest: () => 3 };
  const events = subscription({ ...services, reader: { readOn } }, kind, follow, place);
  return { events, follower, recent, stop: () => given.abort() };
}

const away = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

test('a database that is away for a while ends no subscription', async () => {
  let tries = 0;
  const { events, recent, stop } = subscribe(async (_kind, { cursor }) => {
    tries += 1;
    if (tries === 1) throw away();
    return [recent.keep('1 task 7', eventOf(cursor + 1) as never)];
  });
  const heard = [(await events.next()).value, (await events.next()).value];
  expect(heard.map((event) => event![0])).toEqual(['2', '3']);
  expect(tries).toBe(3);
  stop();
  expect((await events.next()).done).toBe(true);
});

test('whoever may no longer listen learns so while the database is away', async () => {
  const { events, follower } = subscribe(async () => {
    throw away();
  });
  const next = events.next();
  follower.end(SESSION_ENDED());
  await expect(next).rejects.toThrow(/This session has ended/);
});

test('nothing is read for a subscriber while what was sent is not taken', async () => {
  let take = (): void => {};
  const taken = new Promise<void>((resolve) => (take = resolve));
  let isTaken = false;
  void taken.then(() => (isTaken = true));
  const read: boolean[] = [];
  const { events, recent } = subscribe(
    async (_kind, { cursor }) => {
      read.push(isTaken);
      return [recent.keep('1 task 7', eventOf(cursor + 1) as never)];
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
