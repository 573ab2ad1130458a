import type { Download } from './call-types.ts';
import { readPiece, unexpected } from './exchange.ts';

/** After this time without a piece the connection is lost: the time limits of the call have ended. */
const silenceMs = 60_000;

/** The URL of a file: `{name}` in the template is a part of the path, the rest of the input is its query. */
export function downloadUrl(template: string, input: object): string {
  const left = new Map<string, unknown>(Object.entries(input));
  const url = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(left.get(name));
    left.delete(name);
    return encodeURIComponent(value);
  });
  const query = [...left].filter(([, value]) => value !== undefined && value !== null);
  return url + query.map(([name, value]) => `&${name}=${encodeURIComponent(String(value))}`).join('');
}

/** A response as a file that is read while it arrives. */
export function toDownload(
  operation: string,
  mediaType: string,
  response: Response,
  signal: AbortSignal | undefined,
): Download {
  const { headers, body } = response;
  const type = (headers.get('content-type') ?? '').split(';')[0]!.trim();
  // Otherwise the page of another server would be stored as the file.
  if (type !== mediaType) throw unexpected(operation, response);

  async function* pieces(): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    if (body!.locked) throw new TypeError(`${operation}: a file can be read once.`);
    const reader = body!.getReader();
    try {
      for (;;) {
        const { done, value } = await readPiece(operation, reader, signal, silenceMs);
        if (done) return;
        yield value;
      }
    } finally {
      // If the reader stops early, nothing more is sent.
      await reader.cancel().catch(() => {});
    }
  }

  async function bytes(): Promise<Uint8Array> {
    const read: Uint8Array<ArrayBuffer>[] = [];
    for await (const piece of pieces()) read.push(piece);
    return new Uint8Array(await new Blob(read).arrayBuffer());
  }

  return {
    filename: /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? operation,
    mediaType,
    [Symbol.asyncIterator]: pieces,
    text: async () => new TextDecoder('utf-8', { ignoreBOM: true }).decode(await bytes()),
    bytes,
  };
}
