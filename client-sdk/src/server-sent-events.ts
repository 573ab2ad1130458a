import type { Caller } from './caller.ts';
import { faultOf, orFault, parse } from './exchange.ts';
import { Fault } from './fault.ts';
import { onNetwork } from './waiting.ts';
import type { Way } from './way.ts';

/** The service says something every 15 seconds; who hears nothing for this long is cut off without knowing. */
const silenceMs = 40_000;
/** How long the answer may take to begin. */
const patienceMs = 10_000;

type ServerSentEvent = { event: string; data: string };

/** Events as server-sent events, read from `fetch`: an EventSource cannot send headers, and tokens never stand in a URL. */
export function createServerSentEventsWay(caller: Caller, baseUrl: string): Way {
  return {
    drop() {},
    async *listen({ operation, input, signal }) {
      if (signal.aborted) return;
      const url = `${baseUrl}/trpc/${operation}?input=${encodeURIComponent(JSON.stringify(input))}`;
      // Lasts for the whole answer, which a call's own limits do not.
      const reading = new AbortController();
      const stop = (): void => reading.abort(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      const off = onNetwork('offline', () => reading.abort(cut(operation)));
      try {
        const headers = { accept: 'text/event-stream' };
        const response = await withPatience(
          reading,
          operation,
          patienceMs,
          caller.open({ operation, url, headers }, reading.signal),
        );
        for await (const { event, data } of eventsOf(operation, response, reading)) {
          if (event === 'connected') yield 'started';
          else if (event === 'return') return;
          else if (event === 'serialized-error') throw faultOf(operation, parse(data)) ?? cut(operation);
          else if (event === 'message') yield { data: parse(data) };
        }
      } finally {
        off();
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
    const piece = orFault(operation, reading.signal, reader.read());
    const { done, value } = await withPatience(reading, operation, silenceMs, piece);
    if (done) return;
    const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) yield parseBlock(block);
  }
}

/** Cuts the connection where this takes too long. */
async function withPatience<Value>(
  reading: AbortController,
  operation: string,
  ms: number,
  promise: Promise<Value>,
): Promise<Value> {
  const tooLong = setTimeout(() => reading.abort(cut(operation)), ms);
  return promise.finally(() => clearTimeout(tooLong));
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
