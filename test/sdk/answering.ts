import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/* What a client may meet in the place of the service. */

/** Answers each request as the next of the given functions does, and counts them. */
export async function startAnswering(...answers: ((response: ServerResponse) => void)[]) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers['idempotency-key']));
    (answers[seen.length - 1] ?? answers.at(-1)!)(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

export const refuse =
  (status: number, code: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    const error = { message: 'No.', data: { code, httpStatus: status } };
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ error }));
  };
export const answer = (data: unknown) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ result: { data } }));
