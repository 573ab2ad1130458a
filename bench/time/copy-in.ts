import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type pg from 'pg';

/** The part of pg's connection that a COPY speaks through. */
type Wire = {
  stream: Writable;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
};

/** Runs `copy … from stdin` and sends it the chunks, no faster than the server takes them. */
export async function copyIn(client: pg.Client, statement: string, chunks: Iterable<string>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let failure: Error | undefined;
    const send = async (wire: Wire) => {
      for (const chunk of chunks) {
        wire.sendCopyFromChunk(Buffer.from(chunk));
        if (wire.stream.writableNeedDrain) await once(wire.stream, 'drain');
        if (failure) return;
      }
      wire.endCopyFrom();
    };
    // What pg asks of a query that it runs.
    client.query({
      submit: (connection: pg.Connection) => (connection as unknown as Wire).query(statement),
      handleCopyInResponse: (wire: Wire) => void send(wire).catch((error: unknown) => wire.sendCopyFail(String(error))),
      handleCommandComplete: () => {},
      handleError: (error: Error) => {
        failure = error;
        reject(error);
      },
      handleReadyForQuery: () => resolve(),
    });
  });
}
