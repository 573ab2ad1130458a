import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEndOfFile } from './file-end.ts';

/** A server of somebody else on this machine, until the end of the file. */
export type Planted = {
  /** Its address, without a trailing slash. */
  url: string;
  /** How many requests it has had. */
  requests(): number;
};

export async function plant(answer: RequestListener): Promise<Planted> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEndOfFile(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests: () => requests };
}
