import type { Caller } from './caller.ts';
import { unlessAborted } from './waiting.ts';
import { connectionLost, type Transport } from './transport.ts';
import { openLink, patienceMs, type Link } from './websocket-link.ts';

/** One WebSocket for all streams. Its first message holds the credentials, because a URL may end up in logs. */
export function createWebSocketTransport(url: string, caller: Caller): Transport & { hasWorked(): boolean } {
  let link: Promise<Link> | undefined;
  let hasWorked = false;

  function connect(): Promise<Link> {
    const opening = open();
    async function open(): Promise<Link> {
      try {
        // Streams share the connection, so the signal of one does not abort it.
        const { headers } = await caller.credentials(new AbortController().signal);
        return await openLink(url, headers, { onMessage: () => (hasWorked = true), onClose: forget });
      } catch (error) {
        forget();
        throw error;
      }
    }
    function forget(): void {
      if (link === opening) link = undefined;
    }
    return opening;
  }

  return {
    name: 'websocket',
    hasWorked: () => hasWorked,
    disconnect() {
      void link?.then(({ close }) => close()).catch(() => {});
      link = undefined;
    },
    async *subscribe({ operation, input, signal }) {
      link ??= connect();
      const { queue, stop } = (await unlessAborted(link, signal)).subscribe(operation, input);
      const leave = (): void => queue.end();
      const tooLong = setTimeout(() => queue.end(connectionLost()), patienceMs);
      signal.addEventListener('abort', leave, { once: true });
      try {
        for await (const incoming of queue) {
          clearTimeout(tooLong);
          yield incoming;
        }
      } finally {
        clearTimeout(tooLong);
        signal.removeEventListener('abort', leave);
        stop();
      }
    },
  };
}
