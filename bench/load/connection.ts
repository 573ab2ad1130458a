import { connect, type Socket } from 'node:net';

/** One request at a time on one keep-alive connection, without pipelining, as browsers and most clients do. */
export type Connection = {
  /** Sends a request; returns its status when the whole answer is read. */
  send(request: Buffer, onAnswer: (status: number) => void): void;
  close(): void;
};

const readBytes = 256 * 1024;

/**
 * Just enough HTTP to find the end of an answer: a generator that parses more would measure itself. It supports answers
 * of a known length and chunked ones, the only ones that the sides send.
 */
export async function openConnection({ host, port }: { host: string; port: number }): Promise<Connection> {
  let onAnswer: ((status: number) => void) | undefined;
  let status = 0;
  /** Bytes of the body that are still to come; undefined while the head is awaited, -1 for a chunked one. */
  let missing: number | undefined;
  let unread: Buffer | undefined;

  function finish(): void {
    missing = undefined;
    const tell = onAnswer!;
    onAnswer = undefined;
    tell(status);
  }

  function read(part: Buffer): void {
    if (missing !== undefined && missing >= 0) {
      missing -= part.length;
      if (missing === 0) finish();
      return;
    }
    const bytes = unread ? Buffer.concat([unread, part]) : part;
    unread = undefined;
    if (missing === undefined) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) return void (unread = Buffer.from(bytes));
      const head = bytes.toString('latin1', 0, end);
      status = Number(head.slice(9, 12));
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      missing = length === undefined ? -1 : Number(length) - (bytes.length - end - 4);
      if (missing === 0) finish();
      else if (missing < 0) readChunks(bytes.subarray(end + 4));
    } else readChunks(bytes);
  }

  function readChunks(bytes: Buffer): void {
    // The last chunk is empty, and nothing follows it before the next request.
    if (bytes.toString('latin1', Math.max(0, bytes.length - 5)) === '0\r\n\r\n') finish();
    else unread = Buffer.from(bytes.subarray(-5));
  }

  const socket = await new Promise<Socket>((resolve, reject) => {
    const opening = connect({
      host,
      port,
      noDelay: true,
      onread: {
        buffer: Buffer.alloc(readBytes),
        callback: (bytes, buffer) => {
          read(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
          return true;
        },
      },
    });
    opening.once('error', reject).once('connect', () => resolve(opening));
  });
  const fail = (): void => {
    const tell = onAnswer;
    onAnswer = undefined;
    tell?.(0);
  };
  socket.on('error', fail).on('close', fail);
  return {
    send(request, tell) {
      onAnswer = tell;
      if (socket.destroyed) fail();
      else socket.write(request);
    },
    close: () => void socket.destroy(),
  };
}
