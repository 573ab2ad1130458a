import type { Caller } from './caller.ts';
import { unlessAborted } from './waiting.ts';
import type { Way } from './way.ts';
import { cut, openLink, patienceMs, type Link } from './websocket-link.ts';

/** Events over one WebSocket for all streams. Its first message says who is calling: tokens never stand in a URL. */
export function createWebSocketWay(url: string, caller: Caller): Way & { hasWorked(): boolean } {
  let link: Promise<Link> | undefined;
  let hasWorked = false;

  function connect(): Promise<Link> {
    const opening = open();
    async function open(): Promise<Link> {
      try {
        // The connection is everybody's: one who leaves does not keep the others from it.
        const { headers } = await caller.proofOf(new AbortController().signal);
        return await openLink(url, headers, { onWord: () => (hasWorked = true), onGone: forget });
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
    hasWorked: () => hasWorked,
    drop() {
      void link?.then(({ close }) => close()).catch(() => {});
      link = undefined;
    },
    async *listen({ operation, input, signal }) {
      link ??= connect();
      const { queue, stop } = (await unlessAborted(link, signal)).subscribe(operation, input);
      const leave = (): void => queue.end();
      const tooLong = setTimeout(() => queue.end(cut()), patienceMs);
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
