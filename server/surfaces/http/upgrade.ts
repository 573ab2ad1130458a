import type { IncomingMessage } from 'node:http';

/** Whether a request asks for the one WebSocket; other upgrades are ordinary requests. */
export function wantsWebSocket({
  method,
  url = '',
  headers,
}: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean {
  return method === 'GET' && /^\/trpc\/?(?:\?|$)/.test(url) && headers.upgrade?.toLowerCase() === 'websocket';
}
