import { connect } from 'node:net';

/** Sends bytes as they are and answers all that comes back until the other side closes, or says nothing for a while. */
export async function exchange(url: string, bytes: string | Buffer, quietMs = 2_000): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', () => resolve());
    // A cut connection is an answer as well.
    socket.on('error', () => resolve());
    socket.setTimeout(quietMs, () => socket.destroy());
    socket.write(bytes);
  });
  return Buffer.concat(chunks).toString();
}

export type RawAnswer = { status: number; headers: Record<string, string>; body: string };

/** The first answer in what {@link exchange} got. */
export function parseAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, body: rest.join('\r\n\r\n') };
}
