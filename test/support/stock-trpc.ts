import { request as httpRequest } from 'node:http';
import { createShell } from '../../server/surfaces/http/app-shell.ts';
import { createBodyReader } from '../../server/surfaces/http/body.ts';
import { registerTrpc } from '../../server/surfaces/trpc/trpc.ts';
import { createLogger } from '../../server/platform/log.ts';
import { appRouter } from '../../server/router.ts';
import type { Service } from './service.ts';

/** The same service behind tRPC's own handler alone, without the fast path for simple calls. */
export async function openStockHandler({
  app: { services },
}: Service): Promise<{ url: string; close(): Promise<void> }> {
  const logger = createLogger({ level: 'silent' });
  const { server } = await createShell({ logger, trustProxy: false, corsOrigins: [] });
  await registerTrpc(server, appRouter, services, { readBody: createBodyReader(), readCalls: () => undefined });
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  return { url, close: () => server.close() };
}

export type Raw = { method?: string; path: string; headers?: Record<string, string>; body?: string };
export type RawAnswer = { status: number; headers: Record<string, string>; body: string };

/** Sends a request as it is spelt: nothing puts its path or its headers right. */
export function sendRaw(url: string, { method = 'GET', path, headers = {}, body }: Raw): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, method, path, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({
          status: answer.statusCode!,
          headers: Object.fromEntries(
            Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
          ),
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Two calls never get the same moments, identifiers, tokens and standings; everything else must be the same. */
export const blur = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<moment>')
    .replaceAll(/"_id":\d+/g, '"_id":<id>')
    .replaceAll(/comment=\d+/g, 'comment=<id>')
    .replaceAll(/"key":"[^"]*"/g, '"key":<key>');

/** How an answer is framed is between two machines; what stands in it is what clients see. */
const framing = new Set(['date', 'content-length', 'transfer-encoding', 'connection', 'keep-alive']);
const blurred = new Set(['x-access-token', 'ratelimit-remaining', 'ratelimit-reset']);

export function comparable({ status, headers, body }: RawAnswer): RawAnswer {
  const told = Object.entries(headers)
    .filter(([name]) => !framing.has(name))
    // tRPC's own handler compresses nothing.
    .map(([name, value]) => [name, name === 'vary' ? value.replace(', accept-encoding', '') : value] as const);
  return {
    status,
    headers: Object.fromEntries(told.map(([name, value]) => [name, blurred.has(name) ? '<blurred>' : value])),
    body: blur(body),
  };
}
