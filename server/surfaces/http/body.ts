import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { nameOf } from '../../platform/credential.ts';
import type { ApiError } from '../../errors/api-error.ts';
import {
  BODY_TOO_LARGE,
  MALFORMED_JSON,
  MALFORMED_REQUEST,
  RATE_LIMITED,
  REQUEST_TIMEOUT,
  SERVICE_UNAVAILABLE,
  UNSUPPORTED_MEDIA_TYPE,
} from '../../errors/errors.ts';

/*
 * Reads bodies into memory. Invariants:
 * - A body is read after its caller was authenticated, if the operation needs a caller.
 * - No body is longer than its operation allows, and none waits longer than `progressMs` for its next byte.
 * - The bytes of unfinished bodies are bounded per caller (a session, a key, or a network without either) and in total.
 *   The first bytes of each body do not count, so a small request is read however many large ones are in progress.
 */

/** The largest JSON body, unless an operation sets another limit. */
export const bodyBytesMax = 1024 * 1024;
const progressMs = 10_000;
const freeBytes = 16 * 1024;
/** The most bytes that unfinished bodies of one caller may hold, beyond the uncounted bytes of each. */
const heldMax = { authenticated: 32 * 1024 * 1024, unauthenticated: 8 * 1024 * 1024 };
const heldInAllMax = 256 * 1024 * 1024;

type Done = (error: Error | null, text?: string) => void;
/** Reads the body of a request as text; white space alone counts as no body. */
export type ReadBody = (request: FastifyRequest, payload: Readable, limit: number, done: Done) => void;

/** Requests that wait for permission to send their body: `Expect: 100-continue`. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();
export const expectsContinue = (request: IncomingMessage, response: ServerResponse) => waiting.set(request, response);

export function createBodyReader(): ReadBody {
  const held = createHeldBytes();

  return (request, payload, limit, done) => {
    const { raw, headers } = request;
    if (!isPlainUtf8(headers))
      return done(UNSUPPORTED_MEDIA_TYPE({ detail: 'Bodies are JSON in UTF-8, and not compressed.' }));
    if (Number(headers['content-length']) > limit) return done(BODY_TOO_LARGE());
    // A request with a media type and no body: its stream never ends.
    if (raw.readableEnded) return done(null);
    // A body may arrive late, so its caller is authenticated again after it.
    if (!raw.complete && request.info) request.info.caller = undefined;
    waiting.get(raw)?.writeContinue();

    const holder = held.open(request);
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => finish(REQUEST_TIMEOUT()), progressMs);

    function finish(error?: ApiError): void {
      clearTimeout(timer);
      payload.off('data', take).off('end', end).off('close', breakOff);
      holder.release();
      // The request would keep a reference to the chunks while the rest is dropped.
      const read = chunks.splice(0);
      if (error) return done(error);
      const bytes = read.length === 1 ? read[0]! : Buffer.concat(read, size);
      if (!isUtf8(bytes)) return done(MALFORMED_JSON({ detail: 'The body is not valid UTF-8.' }));
      const text = bytes.toString();
      return done(null, text.trim() === '' ? undefined : text);
    }
    function take(chunk: Buffer): void {
      timer.refresh();
      size += chunk.length;
      chunks.push(chunk);
      const error = size > limit ? BODY_TOO_LARGE() : holder.hold(size - freeBytes);
      if (error) finish(error);
    }
    const end = () => finish();
    const breakOff = () => finish(MALFORMED_REQUEST({ detail: 'The body ended before its time.' }));
    // An error is followed by the close.
    payload
      .on('data', take)
      .on('end', end)
      .on('close', breakOff)
      .on('error', () => {});
  };
}

/** Only UTF-8, and no body is decompressed: a few bytes could become gigabytes. */
function isPlainUtf8(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return false;
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

function createHeldBytes() {
  const bytesByHolder = new Map<string, number>();
  let inAll = 0;

  return {
    open({ info, ip }: FastifyRequest) {
      const caller = info?.caller;
      let bytes = 0;
      let name: string | undefined;
      return {
        /** Reports the counted bytes of the body. */
        hold(size: number): ApiError | undefined {
          if (size <= 0) return undefined;
          name ??= caller ? nameOf(caller.credential) : `network ${info?.network ?? ip}`;
          const together = (bytesByHolder.get(name) ?? 0) + size - bytes;
          inAll += size - bytes;
          bytes = size;
          bytesByHolder.set(name, together);
          if (together > (caller ? heldMax.authenticated : heldMax.unauthenticated))
            return RATE_LIMITED({ detail: 'Too many large bodies are under way at once.', retryAfterSeconds: 10 });
          return inAll > heldInAllMax ? SERVICE_UNAVAILABLE({ retryAfterSeconds: 10 }) : undefined;
        },
        release(): void {
          if (name === undefined) return;
          const left = bytesByHolder.get(name)! - bytes;
          if (left > 0) bytesByHolder.set(name, left);
          else bytesByHolder.delete(name);
          inAll -= bytes;
          name = undefined;
        },
      };
    },
  };
}
