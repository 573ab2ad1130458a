import { expect, test } from 'vitest';
import type { Bus } from '../../db/bus.ts';
import { createBusNotifications } from '../../server/events/bus-notifications.ts';

/** A bus with two who listen to it and to themselves. */
function startTwo() {
  const listeners: ((message: string | undefined) => void)[] = [];
  let messages = 0;
  const bus = {
    listen: (hear: (typeof listeners)[number]) => void listeners.push(hear),
    send(message: string) {
      messages += 1;
      for (const hear of listeners) hear(message);
    },
  } as unknown as Bus;
  const one = () => {
    let wakes = 0;
    const notifications = createBusNotifications(bus, () => (wakes += 1));
    notifications.listen();
    return { notifications, wakes: () => wakes };
  };
  return {
    here: one(),
    there: one(),
    messages: () => messages,
    breakOff: () => listeners.forEach((hear) => hear(undefined)),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what a process has written wakes it once, and the others by one message for all of it', async () => {
  const { here, there, messages } = startTwo();
  here.notifications.send(['1 task 1', '1 task 2']);
  here.notifications.send(['1 task 2', '2 task 3']);
  expect(here.notifications.take()).toEqual(['1 task 1', '1 task 2', '2 task 3']);
  const wakes = here.wakes();
  await turn();
  expect([messages(), here.wakes() - wakes, here.notifications.take()]).toEqual([1, 0, []]);
  expect([there.wakes(), there.notifications.take()]).toEqual([1, ['1 task 1', '1 task 2', '2 task 3']]);
});

test('who writes all the time sends a message every ten milliseconds, and none is left out', async () => {
  const { here, there, messages } = startTwo();
  const begun = performance.now();
  const keys = Array.from({ length: 50 }, (_, nth) => `1 project ${nth}`);
  for (const key of keys) {
    here.notifications.send([key]);
    await turn();
  }
  const heard = new Set<string>();
  await expect
    .poll(() => {
      for (const key of there.notifications.take()) heard.add(key);
      return heard.size;
    })
    .toBe(keys.length);
  expect(messages()).toBeLessThanOrEqual(2 + (performance.now() - begun) / 10);
});

test('who may have missed something, or is told more than a message holds, looks at everything', async () => {
  const { here, there, breakOff } = startTwo();
  breakOff();
  expect([here.notifications.take(), there.notifications.take(), there.notifications.take()]).toEqual([
    'all',
    'all',
    [],
  ]);
  here.notifications.send(Array.from({ length: 1_000 }, (_, nth) => `1 task ${nth}`));
  await turn();
  expect(there.notifications.take()).toBe('all');
});
