import { get } from 'node:http';
import { type Actor, headersOf } from './actor.ts';

export type Downloaded = {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  bytes: Buffer;
  /** Whether the answer came to its end. */
  isComplete: boolean;
};

/** Asks for files; after the first bytes no more are read while `whilePaused` runs. */
export const createDownload =
  ({ url }: { url: string }) =>
  (actor: Actor, path: string, whilePaused?: () => Promise<unknown>): Promise<Downloaded> => {
    const headers = headersOf(actor.pair);
    return new Promise((resolve, reject) => {
      get(`${url}${path}`, { headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('data', () => {
          if (!whilePaused) return;
          response.pause();
          whilePaused().then(() => response.resume(), reject);
        });
        const finish = () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            bytes: Buffer.concat(chunks),
            isComplete: response.complete,
          });
        response.on('end', finish);
        response.on('error', finish);
      }).on('error', reject);
    });
  };
