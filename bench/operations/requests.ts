import type { Operation } from './operations.ts';
import type { World } from '../support/world.ts';

/** How a side is spoken to. */
export type Format = 'rest' | 'trpc' | 'batch';

const callsPerBatch = 10;

export const callsPerRequest = (format: Format): number => (format === 'batch' ? callsPerBatch : 1);

type Addressing = { world: World; format: Format; headers: Record<string, string>; host: string };

/** Method, path and body of a request that carries one call, or a batch of them. */
export function toMessage(
  operation: Operation,
  { world, format }: Pick<Addressing, 'world' | 'format'>,
): { method: string; path: string; body: string | undefined } {
  const { method, procedure, kind } = operation;
  if (format === 'rest') {
    const { path, body } = operation.call(world);
    return { method, path, body: body === undefined ? undefined : JSON.stringify(body) };
  }
  const inputs = Array.from({ length: callsPerRequest(format) }, () => operation.call(world).input);
  const isBatch = format === 'batch';
  const path = `/trpc/${inputs.map(() => procedure).join()}`;
  const input = JSON.stringify(isBatch ? Object.fromEntries(inputs.entries()) : inputs[0]);
  const batch = isBatch ? ['batch=1'] : [];
  const parameters = kind === 'query' ? [...batch, `input=${encodeURIComponent(input)}`] : batch;
  return {
    method: kind === 'query' ? 'GET' : 'POST',
    path: parameters.length === 0 ? path : `${path}?${parameters.join('&')}`,
    body: kind === 'query' ? undefined : input,
  };
}

/** The same as it goes over the wire. */
export function toRequest(operation: Operation, { world, format, headers, host }: Addressing): Buffer {
  const { method, path, body = '' } = toMessage(operation, { world, format });
  const about = body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const head = Object.entries({ host, ...headers, ...about }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`);
}
