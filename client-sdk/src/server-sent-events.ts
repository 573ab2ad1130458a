import type { Caller } from './caller.ts';
import { toApiError, parse, readPiece } from './exchange.ts';
import { onNetwork } from './waiting.ts';
import { connectionLost, type Transport } from './transport.ts';

/** The service sends something every 15 seconds; after this time of silence the connection is lost. */
const silenceMs = 40_000;
/** The time limit for the start of the answer. */
const patienceMs = 10_000;

type ServerSentEvent = { event: string; data: string };

/** Server-sent events, read with `fetch`: an EventSource cannot send headers, and a URL with tokens may end up in logs. */
export function createServerSentEventsTransport(caller: Caller, baseUrl: string): Transport {
  return {
    name: 'sse',
    disconnect() {},
    async *subscribe({ operation, input, signal }) {
      if (signal.aborted) return;
      const url = `${baseUrl}/trpc/${operation}?input=${encodeURIComponent(JSON.stringify(input))}`;
      // Unlike the limits of a call, it covers the whole response.
      const reading = new AbortController();
      const stop = (): void => reading.abort(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      const off = onNetwork('offline', () => reading.abort(connectionLost(operation)));
      try {
        const headers = { accept: 'text/event-stream' };
        const tooLong = setTimeout(() => reading.abort(connectionLost(operation)), patienceMs);
        const response = await caller
          .open({ operation, url, headers }, reading.signal)
          .finally(() => clearTimeout(tooLong));
        for await (const { event, data } of eventsOf(operation, response, reading.signal)) {
          if (event === 'connected') yield 'started';
          else if (event === 'return') return;
          else if (event === 'serialized-error') throw toApiError(operation, parse(data)) ?? connectionLost(operation);
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

/** Parses the events of a response. */
async function* eventsOf(
  operation: string,
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent, void> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await readPiece(operation, reader, signal, silenceMs);
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
