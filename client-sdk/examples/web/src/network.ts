import { computed, effect, signal } from '@preact/signals';
import { isApiError, type StreamStatus } from 'work-management-client';

/** What the browser says of the network. */
const isOnline = signal(navigator.onLine);
addEventListener('online', () => (isOnline.value = true));
addEventListener('offline', () => (isOnline.value = false));

/** What the stream of notifications does: it is open as long as somebody is signed in. */
export const link = signal<StreamStatus>('connecting');

/** How that stream gets through. */
export const transport = signal<'websocket' | 'sse'>('websocket');

/** Why nothing new arrives at the moment. */
export const away = computed<'offline' | 'unreachable' | null>(() => {
  if (!isOnline.value) return 'offline';
  return link.value === 'waiting' ? 'unreachable' : null;
});

/** Counts how often the service was reached again after it was away: the page reads its data again. */
export const comebacks = signal(0);
let wasAway = false;
effect(() => {
  if (away.value !== null) wasAway = true;
  else if (wasAway && link.value === 'live') {
    wasAway = false;
    comebacks.value = comebacks.peek() + 1;
  }
});

/** A write that was not even tried. */
class Offline extends Error {
  override name = 'Offline';
}

/** A write of which nobody knows whether it was made. */
class Unanswered extends Error {
  override name = 'Unanswered';
}

/** Makes a write, or refuses at once while the browser is offline, so that nobody waits for what cannot happen. */
export async function write<Answer>(make: () => Promise<Answer>): Promise<Answer> {
  if (!isOnline.value) throw new Offline('You are offline, so nothing was sent. Try again when you are back.');
  try {
    return await make();
  } catch (cause) {
    if (!isApiError(cause, 'NETWORK_ERROR', 'TIMEOUT')) throw cause;
    const words = 'The service did not answer, so this may not have been saved. Try again in a moment.';
    throw new Unanswered(words, { cause });
  }
}
