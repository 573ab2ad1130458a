import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';

export type OutboundAnswer = {
  status: number;
  /** The header `Retry-After`. */
  retryAfter: string | undefined;
  /** How the body begins. */
  text: string;
};

/** So much of an answer to a post is read; the connection is closed then. */
const answerBytesMax = 1024;

/**
 * Posts to one of the checked addresses of a URL's host. The certificate must be that of the host. Redirects are not followed,
 * no proxy is used, and the connection serves this request alone. Rejects if the answer has not arrived when the signal aborts.
 */
export async function postOutbound(
  url: URL,
  addresses: readonly string[],
  { headers, body, signal }: { headers: Record<string, string>; body: string; signal: AbortSignal },
): Promise<OutboundAnswer> {
  const all = { 'content-length': String(Buffer.byteLength(body)), ...headers };
  const response = await send(url, addresses, { method: 'POST', headers: all, body, signal });
  const beginning = await readBeginning(response, answerBytesMax);
  const text = beginning.toString().replaceAll('\0', '\u{fffd}');
  return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text };
}

/** Gets the beginning of a document in the same way. */
export async function getOutbound(
  url: URL,
  addresses: readonly string[],
  { accept, bytesMax, signal }: { accept: string; bytesMax: number; signal: AbortSignal },
): Promise<{ status: number; bytes: Buffer }> {
  const headers = { accept, 'user-agent': 'work-management-service' };
  const response = await send(url, addresses, { method: 'GET', headers, signal });
  return { status: response.statusCode ?? 0, bytes: await readBeginning(response, bytesMax) };
}

type Sent = { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string; signal: AbortSignal };

async function send(url: URL, addresses: readonly string[], { body, ...options }: Sent): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(url, { ...options, agent: false, lookup: lookupAmong(addresses) });
  sent.on('response', resolve);
  // Also after the answer, when the connection is closed.
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

/** Answers the checked addresses, whatever the name. Node calls no lookup for an address, which was checked itself. */
function lookupAmong(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, callback) => {
    if (options.all === true) callback(null, all);
    else callback(null, all[0]!.address, all[0]!.family);
  };
}

async function readBeginning(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(parts).subarray(0, bytesMax);
}
