import { describe, expect, inject, onTestFinished, test } from 'vitest';
import {
  openPipelinedConnection,
  type PipelinedConnection,
  type Read,
} from '../../db/pipeline/pipelined-connection.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';
import { waitFor } from '../support/waiting.ts';

const template = inject('template');
const url = template.kind === 'server' ? template.url : '';
const read = (value: number): Read => ({ name: 'echo', text: 'select $1::integer as value', values: [value] });

/** A connection whose server is reached only through the test, and the reads that it says were slow. */
async function openBehindProxy(): Promise<{ connection: PipelinedConnection; proxy: Proxy; slow: string[] }> {
  const proxy = await startProxy(url, 5432);
  const slow: string[] = [];
  const connection = openPipelinedConnection({
    connection: { connectionString: proxy.url, connectionTimeoutMillis: 1_000 },
    onSlowQuery: (read) => void slow.push(read.name),
  });
  onTestFinished(async () => {
    await proxy.close();
    await connection.close();
  });
  await untilItTakesReads(connection);
  return { connection, proxy, slow };
}

const untilItTakesReads = (connection: PipelinedConnection) => waitFor(() => expect(connection.load()).toBe(0));

describe.runIf(template.kind === 'server')('a pipelined connection whose server goes silent', () => {
  test('lets go of its reads, takes no others and goes on where the server does', async () => {
    const { connection, proxy, slow } = await openBehindProxy();
    proxy.freeze();
    const held = await Promise.allSettled([connection.run(read(1)), connection.run(read(2))]);
    expect(held.map((one) => one.status)).toEqual(['rejected', 'rejected']);
    expect([connection.load(), slow]).toEqual([undefined, ['echo']]);

    proxy.restore();
    await untilItTakesReads(connection);
    expect((await connection.run(read(3))).rows).toEqual([{ value: 3 }]);
  });

  test('gives up its connection for a new one where it stays silent', async () => {
    const { connection, proxy } = await openBehindProxy();
    proxy.freeze();
    await expect(connection.run(read(1))).rejects.toThrow('stuck');
    await waitFor(() => expect(proxy.accepted()).toBeGreaterThan(1));

    proxy.restore();
    await untilItTakesReads(connection);
    expect((await connection.run(read(2))).rows).toEqual([{ value: 2 }]);
  });
});

describe.runIf(template.kind === 'server')('a pipelined connection', () => {
  test('that was cut off rejects what is in flight and comes back', async () => {
    const { connection, proxy } = await openBehindProxy();
    const inFlight = connection.run(read(1));
    proxy.cut();
    await expect(inFlight).rejects.toThrow(/terminated|ECONN|EPIPE|stuck/);
    await waitFor(() => expect(connection.load()).toBeUndefined());
    await expect(connection.run(read(2))).rejects.toThrow('no connection');
    proxy.restore();
    await untilItTakesReads(connection);
    expect((await connection.run(read(3))).rows).toEqual([{ value: 3 }]);
  });

  test('takes a bounded number of reads', async () => {
    const { connection } = await openBehindProxy();
    const inFlight: Promise<unknown>[] = [];
    while (connection.load() !== undefined && inFlight.length < 10_000)
      inFlight.push(connection.run(read(inFlight.length)));
    expect(inFlight.length).toBeLessThan(10_000);
    await Promise.all(inFlight);
    expect(connection.load()).toBe(0);
  });
});
