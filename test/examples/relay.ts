import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** What becomes of an answer on its way back: it arrives, it never does, or the connection breaks before it or within it. */
export type Fate = 'passes' | 'is held' | 'is lost' | 'is torn';

export type Relay = {
  url: string;
  /** Resolves when an answer is held or lost: the service has done what it says. */
  kept: Promise<void>;
};

/** Stands between a script and the service, and decides about each answer under one path by its number, from 1. */
export async function startRelay(
  target: string,
  path: string,
  fateOf: (number: number) => Fate | Promise<Fate>,
): Promise<Relay> {
  const kept = Promise.withResolvers<void>();
  let number = 0;

  async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = request;
    const body = method === 'GET' ? null : await buffer(request);
    const sent = Object.entries(headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name));
    const answer = await fetch(target + url, {
      method,
      headers: Object.fromEntries(sent) as Record<string, string>,
      body,
    });
    const text = await answer.text();
    const fate = url.startsWith(path) ? await fateOf((number += 1)) : 'passes';
    if (fate === 'passes' || fate === 'is torn')
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    if (fate === 'passes') {
      response.end(text);
      return;
    }
    if (fate === 'is torn') response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
    if (fate === 'is lost') request.socket.destroy();
    kept.resolve();
  }

  const server = createServer(
    (request, response) => void relay(request, response).catch(() => request.socket.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, kept: kept.promise };
}
