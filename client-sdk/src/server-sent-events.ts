import type { Caller } from './caller.ts';
import { faultOf, orFault } from './exchange.ts';
import { Fault } from './fault.ts';
import type { Way } from './way.ts';

/** The service says something every 15 seconds; who hears nothing for this long is cut off without knowing. */
const silenceMs = 40_000;

type ServerSentEvent = { event: string; data: string };

/** Events as server-sent events, read from `fetch`: an EventSource cannot send headers, and tokens never stand in a URL. */
export function createServerSentEventsWay(caller: Caller, baseUrl: string): Way {
  return {
    drop() {},
    async *listen({ operation, input, signal }) {
      const url = `${baseUrl}/trpc/${operation}?input=${encodeURIComponent(JSON.stringify(input))}`;
      // Lasts for the whole answer, which a call's own limits do not.
      const reading = new AbortController();
      const stop = (): void => reading.abort(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      const response = await caller.open({ operation, url, headers: { accept: 'text/event-stream' } }, reading.signal);
      try {
        for await (const { event, data } of eventsOf(operation, response, reading)) {
          if (event === 'connected') yield 'started';
          else if (event === 'return') return;
          else if (event === 'serialized-error') throw faultOf(operation, JSON.parse(data)) ?? cut(operation);
          else if (event === 'message') yield { data: JSON.parse(data) as unknown };
        }
      } finally {
        signal.removeEventListener('abort', stop);
        reading.abort();
      }
    },
  };
}

/** Takes the events out of an answer. */
async function* eventsOf(
  operation: string,
  response: Response,
  reading: AbortController,
): AsyncGenerator<ServerSentEvent, void> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const silence = setTimeout(() => reading.abort(cut(operation)), silenceMs);
    const { done, value } = await orFault(operation, reading.signal, reader.read()).finally(() =>
      clearTimeout(silence),
    );
    if (done) return;
    const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) yield parseBlock(block);
  }
}

function parseBlock(block: string): ServerSentEvent {
  const fields = { event: 'message', data: '' };
  for (const line of block.split('\n')) {
    const [, name, value] = /^(event|data): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) fields[name as keyof typeof fields] = value!;
  }
  return fields;
}

function cut(operation: string): Fault {
  return new Fault('NETWORK_ERROR', 'The connection for events was cut.', { status: 0, operation });
}
