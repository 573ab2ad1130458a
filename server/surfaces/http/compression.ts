import { pipeline, type Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
  type BrotliOptions,
  type ZlibOptions,
} from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/*
 * Compresses answers with gzip or Brotli on request. Invariants:
 * - An answer is compressed only if its sender allows it: operations by `request.mayCompress`, from their declaration
 *   (see `isCompressible`), and static documents. So no secret and no event stream is compressed.
 * - Every answer that could be compressed says so by `Vary`.
 */

export type Encoding = 'br' | 'gzip';

/** Shorter answers fit into one or two packets anyway. */
export const compressedBytesMin = 1024;
/** Longer answers are compressed on another thread. */
const inTurnBytesMax = 16 * 1024;

const brotli = (quality: number): BrotliOptions => ({ params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
const fast = { br: brotli(4), gzip: { level: 4 } satisfies ZlibOptions };
const small = { br: brotli(9), gzip: { level: 9 } satisfies ZlibOptions };
const later = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** The encoding that the caller prefers; undefined if that is no encoding. */
export function encodingFor({ headers }: FastifyRequest): Encoding | undefined {
  const accepted = headers['accept-encoding'];
  if (accepted === undefined) return undefined;
  // The library takes `*` for Brotli, also where `br;q=0` refuses that.
  const named = accepted
    .toLowerCase()
    .split(',')
    .filter((part) => !part.trimStart().startsWith('*'));
  const best = negotiate(named.join(), ['br', 'gzip', 'identity']);
  return best === 'br' || best === 'gzip' ? best : undefined;
}

/** The best compression, for content that is sent many times. */
export const compressOnce = (bytes: Buffer, encoding: Encoding): Promise<Buffer> =>
  encoding === 'br' ? later.br(bytes, small.br) : later.gzip(bytes, small.gzip);

export function addVary(reply: FastifyReply, names: string): void {
  const told = reply.getHeader('vary');
  void reply.header('vary', told === undefined ? names : `${[told].flat().join(', ')}, ${names}`);
}

/** Compresses the pieces of an answer as they come. */
function compressed(pieces: Readable, encoding: Encoding): Transform {
  const through = encoding === 'br' ? createBrotliCompress(fast.br) : createGzip(fast.gzip);
  // If a piece fails, this fails as well, and the connection is cut; the sender of the pieces has logged it.
  return pipeline(pieces, through, () => {});
}

const compressSync = (text: string, encoding: Encoding): Buffer =>
  encoding === 'br' ? brotliCompressSync(text, fast.br) : gzipSync(text, fast.gzip);

export function compressAnswers(app: FastifyInstance): void {
  app.decorateRequest('mayCompress', false);
  app.addHook<string | Readable>('onSend', (request, reply, payload, done) => {
    if (!request.mayCompress || reply.statusCode !== 200) return done(null, payload);
    addVary(reply, 'accept-encoding');
    const encoding = encodingFor(request);
    const isShort = typeof payload === 'string' && Buffer.byteLength(payload) < compressedBytesMin;
    if (encoding === undefined || isShort) return done(null, payload);
    void reply.header('content-encoding', encoding);
    if (typeof payload !== 'string') {
      // Before the first byte an error is answered instead.
      payload.once('error', () => reply.removeHeader('content-encoding'));
      done(null, compressed(payload, encoding));
    } else if (payload.length <= inTurnBytesMax) done(null, compressSync(payload, encoding));
    else if (encoding === 'br') brotliCompress(payload, fast.br, done);
    else gzip(payload, fast.gzip, done);
    return undefined;
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the answer may be compressed; see compression.ts. */
    mayCompress: boolean;
  }
}
