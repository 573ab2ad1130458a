import { Agent, request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** Text that stands in a JSON body as it is: numbers that no double holds, or nesting that no stack takes. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Body = { json: unknown } | { bytes: Buffer };

/** How the caller's proof is sent. */
export type Twist = 'whole' | 'accessOnly' | 'refreshOnly' | 'cut' | 'doubled' | 'garbage' | 'noise';

/** A request before it is sent: in parts, so that parts can be left out. */
export type FuzzRequest = {
  operation: string;
  method: string;
  /** Percent-encoded, as it goes out. */
  path: string;
  query: string[];
  actor: string;
  twist: Twist;
  headers: [name: string, value: string][];
  body: Body | undefined;
};

export type FuzzAnswer = { status: number; headers: Record<string, string>; body: string };

const decoders: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

/** The text of an answer, in whichever encoding it came. */
const textOf = (bytes: Buffer, encoding = ''): string =>
  (bytes.length > 0 ? (decoders[encoding]?.(bytes) ?? bytes) : bytes).toString('utf8');

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const answerWithinMs = 30_000;
const bodiless = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

export function urlOf({ path, query }: Pick<FuzzRequest, 'path' | 'query'>): string {
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

export function bytesOf(body: Body): Buffer {
  return 'bytes' in body ? body.bytes : Buffer.from(toJson(body.json));
}

function toJson(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]) => `${JSON.stringify(name)}:${toJson(one)}`)
    .join(',')}}`;
}

/** Sends it with the given proof; throws where nothing comes back. */
export async function send(
  baseUrl: string,
  request: FuzzRequest,
  proof: [string, string][],
  isAgain = false,
): Promise<FuzzAnswer> {
  const { hostname, port } = new URL(baseUrl);
  const body = request.body && bytesOf(request.body);
  const isChunked = request.headers.some(([name]) => name === 'Transfer-Encoding');
  const length: [string, string][] =
    isChunked || (body === undefined && bodiless.has(request.method))
      ? []
      : [['Content-Length', String(body?.length ?? 0)]];
  const headers = [['Host', `${hostname}:${port}`], ...proof, ...request.headers, ...length].flat();
  let wasReused = false;
  try {
    const answer = await new Promise<Omit<FuzzAnswer, 'body'> & { bytes: Buffer }>((resolve, reject) => {
      const { method } = request;
      const sent = httpRequest({
        hostname,
        port,
        method,
        path: urlOf(request),
        headers,
        agent,
        timeout: answerWithinMs,
      });
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${answerWithinMs / 1000} s`)));
      sent.on('error', (error) => {
        wasReused = sent.reusedSocket;
        reject(error);
      });
      sent.on('response', (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({
            status: answer.statusCode!,
            headers: Object.fromEntries(
              Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
            ),
            bytes: Buffer.concat(chunks),
          }),
        );
      });
      sent.end(body);
    });
    const { status, headers: answered, bytes } = answer;
    return { status, headers: answered, body: textOf(bytes, answered['content-encoding']) };
  } catch (error) {
    // A connection may be closed while it is taken up again; every client of HTTP repeats that.
    if (wasReused && !isAgain && (error as NodeJS.ErrnoException).code === 'ECONNRESET')
      return send(baseUrl, request, proof, true);
    throw error;
  }
}

export const closeConnections = (): void => agent.destroy();

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The request as a command for a shell; `saveBody` keeps a body that fits into none and answers where. */
export function toCurl(
  baseUrl: string,
  request: FuzzRequest,
  proof: string[],
  saveBody: (bytes: Buffer) => string,
): string {
  const body = request.body && bytesOf(request.body);
  const isPlain = body !== undefined && body.length <= 2000 && /^[\x20-\x7e\n]*$/.test(body.toString('latin1'));
  const data = body === undefined ? [] : isPlain ? [quoted(body.toString())] : [quoted(`@${saveBody(body)}`)];
  return [
    `curl -sS -i --path-as-is --globoff -X ${request.method} ${quoted(baseUrl + urlOf(request))}`,
    ...proof.map((header) => `-H "${header}"`),
    ...request.headers.map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...data.map((one) => `--data-binary ${one}`),
  ].join(' \\\n    ');
}
