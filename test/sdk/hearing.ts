import { expect, onTestFinished } from 'vitest';
import { isApiError, type Client, type EventOf } from 'work-management-client';
import type { Service } from '../support/service.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

export type Heard = EventOf<'comments.onTask'> | EventOf<'notifications.onMine'>;

/** Listens until it ends; answers what was heard, what the stream said of itself, and how it ended. */
export function hear(
  open: (options: { signal: AbortSignal; onStatus(status: string): void }) => AsyncIterable<Heard>,
  onEvent: (event: Heard) => void | Promise<void> = () => {},
) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const events: Heard[] = [];
  const statuses: string[] = [];
  async function run(): Promise<string> {
    try {
      const stream = open({ signal: stop.signal, onStatus: (status) => void statuses.push(status) });
      for await (const event of stream) {
        events.push(event);
        await onEvent(event);
      }
      return 'in peace';
    } catch (error) {
      return isApiError(error) ? error.code : String(error);
    }
  }
  const ended = run();
  return {
    events,
    statuses,
    ended,
    stop: () => stop.abort(),
    ids: () => events.map(({ id }) => id),
    isLive: () => waitUntil(() => statuses.at(-1) === 'live'),
    hears: (count: number) => waitUntil(() => events.length >= count),
  };
}

export const onTask = (client: Client, taskId: number, lastEventId?: string) =>
  hear((options) => client.comments.onTask({ taskId, lastEventId: lastEventId ?? null }, options));

/** Counts who listens to a service. */
export function countingOf({ anonymous }: Service) {
  async function subscriptions(): Promise<[connections: number, subscriptions: number]> {
    const { body } = await anonymous.get('/metrics');
    const count = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(body)![1]);
    return [count('event_connections'), count('event_subscriptions')];
  }
  return {
    subscriptions,
    /** Waits until those of the tests before have gone. */
    async quiet(): Promise<[0, 0]> {
      await waitFor(async () => expect(await subscriptions()).toEqual([0, 0]));
      return [0, 0];
    },
  };
}
