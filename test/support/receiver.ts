import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEndOfFile } from './file-end.ts';

/** A message as a receiver of webhooks gets it. */
export type Received = {
  id: string;
  headers: IncomingHttpHeaders;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects
  body: any;
};

export type Receiver = {
  /** Its URL at an address of this machine, by plain http. */
  url: string;
  received: Received[];
  /** The most requests that were open at the same time. */
  mostOpen(): number;
  close(): Promise<void>;
};

type Answer = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

/** Receives webhooks until the end of the file, and answers 204 where the test does not say otherwise. */
export async function startReceiver(
  answer: Answer = (_, response) => void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  let open = 0;
  let mostOpen = 0;
  const server = createServer((request, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.on('close', () => (open -= 1));
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const one = { id: String(request.headers['webhook-id']), headers: request.headers, text, body: JSON.parse(text) };
      received.push(one);
      answer(one, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
  atEndOfFile(close);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, received, mostOpen: () => mostOpen, close };
}
