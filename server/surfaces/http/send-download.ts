import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Download } from '../../kernel/wire/download.ts';

/** Sends a file while it is made. */
export async function sendDownload(reply: FastifyReply, { mediaType, filename, body }: Download): Promise<void> {
  void reply.type(`${mediaType}; charset=utf-8`).header('Content-Disposition', `attachment; filename="${filename}"`);
  await sendPieces(reply, body);
}

/**
 * Sends an answer piece by piece, as fast as it is taken. Up to its first piece a failure is a refusal like any other;
 * after that the connection is cut. For a caller who asks only what it would be, no more than the first piece is made.
 */
export async function sendPieces(reply: FastifyReply, body: AsyncIterable<string>): Promise<void> {
  const pieces = body[Symbol.asyncIterator]();
  const refuse = (error: unknown): never => {
    // The refusal that is answered instead is no file.
    reply.removeHeader('Content-Disposition');
    throw error;
  };
  const first = await pieces.next().catch(refuse);
  const stream = Readable.from(reply.request.method === 'HEAD' ? [] : following(first, pieces));
  if (reply.request.method === 'HEAD') await pieces.return?.();
  stream.once('error', (error) => {
    if (reply.raw.headersSent) reply.log.error({ err: error }, 'an answer broke off');
    else reply.removeHeader('Content-Disposition');
  });
  await reply.send(stream);
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
