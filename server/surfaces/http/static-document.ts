import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addVary, compressedBytesMin, compressOnce, encodingFor, type Encoding } from './compression.ts';

const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export const mediaTypeOf = (name: string): string | undefined => mediaTypes[extname(name)];

type CachedDocument = { bytes: Buffer; etag: string; compressed: Map<Encoding, Promise<Buffer>> };

export type SendStatic = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Serves a document that does not change while the process runs. It is created at the first request, because creating
 * all of them takes a good part of a start; compressed once for each encoding; and answered with 304 to a client that
 * has it.
 */
export function staticDocument({
  type,
  read,
  cacheControl = 'no-cache',
}: {
  type: string;
  read(): Buffer | Promise<Buffer>;
  cacheControl?: string;
}): SendStatic {
  let cached: Promise<CachedDocument> | undefined;

  async function cache(): Promise<CachedDocument> {
    const bytes = await read();
    const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 27);
    // A weak ETag: it is the same in each encoding.
    return { bytes, etag: `W/"${hash}"`, compressed: new Map() };
  }

  return async (request, reply) => {
    cached ??= cache().catch((error: unknown) => {
      cached = undefined;
      throw error;
    });
    const { bytes, etag, compressed } = await cached;
    const isWorthIt = bytes.length >= compressedBytesMin && !isCompressed(type);
    if (isWorthIt) addVary(reply, 'accept-encoding');
    void reply.headers({ etag, 'cache-control': cacheControl });
    if (isKnown(request, etag)) return reply.status(304).send();
    const encoding = isWorthIt ? encodingFor(request) : undefined;
    if (encoding === undefined) return reply.type(type).send(bytes);
    const packed = compressed.get(encoding) ?? compressOnce(bytes, encoding);
    compressed.set(encoding, packed);
    return reply
      .type(type)
      .header('content-encoding', encoding)
      .send(await packed);
  };
}

/** Serves the named files of a folder at a path. */
export function serveFiles(app: FastifyInstance, path: string, folder: string, names: string[]): void {
  for (const name of names) {
    const read = () => readFileSync(join(folder, name));
    app.get(`${path}/${name}`, staticDocument({ type: mediaTypeOf(name)!, read }));
  }
}

const isCompressed = (type: string): boolean => type.startsWith('font/') || type === 'application/gzip';

function isKnown({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  if (known === undefined) return false;
  return known.split(',').some((tag) => ['*', etag, etag.slice(2)].includes(tag.trim()));
}
