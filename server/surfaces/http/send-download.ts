import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { mediaTypes, type Download } from '../../kernel/wire/download.ts';

/** Sends a file while it is produced. */
export async function sendDownload(reply: FastifyReply, { format, filename, body }: Download): Promise<void> {
  const isText = format === 'csv' || format === 'jsonl';
  // What is in the others is compressed already.
  if (!isText) reply.request.mayCompress = false;
  void reply
    .type(isText ? `${mediaTypes[format]}; charset=utf-8` : mediaTypes[format])
    .header('Content-Disposition', `attachment; filename="${filename}"`);
  await sendPieces(reply, body);
}

/**
 * Sends an answer in pieces as fast as they are read. A failure before the first piece is answered as an error; after
 * it the connection is cut. A HEAD request produces the first piece only.
 */
export async function sendPieces(reply: FastifyReply, body: AsyncIterable<string | Uint8Array>): Promise<void> {
  const pieces = body[Symbol.asyncIterator]();
  const refuse = (error: unknown): never => {
    // The error that is answered instead is no file.
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
  first: IteratorResult<string | Uint8Array, unknown>,
  pieces: AsyncIterator<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  try {
    for (let piece = first; piece.done !== true; piece = await pieces.next()) yield piece.value;
  } finally {
    // Also after the caller has disconnected: nothing more is read for them.
    await pieces.return?.();
  }
}
