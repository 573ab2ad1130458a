import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Download } from '../kernel/download.ts';

/**
 * Sends a file while it is made. Up to its first piece a failure is a refusal like any other; for whoever asks only
 * what it would be, no more than that is made.
 */
export async function sendDownload(reply: FastifyReply, { mediaType, filename, body }: Download): Promise<void> {
  const pieces = body[Symbol.asyncIterator]();
  const first = await pieces.next();
  const stream = Readable.from(reply.request.method === 'HEAD' ? [] : following(first, pieces));
  if (reply.request.method === 'HEAD') await pieces.return?.();
  stream.once('error', (error) => {
    if (reply.raw.headersSent) reply.log.error({ err: error }, 'a download broke off');
    // Nothing has left yet: the refusal that is answered instead is no file.
    else reply.removeHeader('Content-Disposition');
  });
  await reply
    .type(`${mediaType}; charset=utf-8`)
    .header('Content-Disposition', `attachment; filename="${filename}"`)
    .send(stream);
}

async function* following(
  first: IteratorResult<string, unknown>,
  pieces: AsyncIterator<string>,
): AsyncGenerator<string> {
  try {
    for (let piece = first; piece.done !== true; piece = await pieces.next()) yield piece.value;
  } finally {
    // Also where the caller has hung up: nothing more is read for them.
    await pieces.return?.();
  }
}
