import { parentPort } from 'node:worker_threads';

/** Times calls on a thread of its own, as a caller elsewhere would: the server's work does not hold up its clock. */
export type TimedCall = { url: string; body: object };

parentPort!.on('message', async ({ url, body }: TimedCall) => {
  const start = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  parentPort!.postMessage(performance.now() - start);
});
