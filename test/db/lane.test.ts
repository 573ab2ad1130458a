import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { openLane, type Lane, type Read } from '../../db/lane.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';

const template = inject('template');
const url = template.kind === 'server' ? template.url : '';
const read = (value: number): Read => ({ name: 'echo', text: 'select $1::integer as value', values: [value] });

/** A lane whose server is reached only through the test, and what it says of its reads. */
async function openBehindProxy(): Promise<{ lane: Lane; proxy: Proxy; heldUpBy: string[] }> {
  const proxy = await startProxy(url, 5432);
  const heldUpBy: string[] = [];
  const lane = openLane({
    connection: { connectionString: proxy.url, connectionTimeoutMillis: 1_000 },
    onHoldUp: (held) => void heldUpBy.push(held.name),
  });
  onTestFinished(async () => {
    await proxy.close();
    await lane.close();
  });
  await untilItTakesReads(lane);
  return { lane, proxy, heldUpBy };
}

const untilItTakesReads = (lane: Lane) =>
  vi.waitFor(() => expect(lane.load()).toBe(0), { timeout: 20_000, interval: 10 });

describe.runIf(template.kind === 'server')('a lane whose server goes silent', () => {
  test('lets go of its reads, takes no others meanwhile, and goes on where the server does', async () => {
    const { lane, proxy, heldUpBy } = await openBehindProxy();
    proxy.freeze();
    const held = await Promise.allSettled([lane.run(read(1)), lane.run(read(2))]);
    expect(held.map((one) => one.status)).toEqual(['rejected', 'rejected']);
    expect([lane.load(), heldUpBy]).toEqual([undefined, ['echo']]);

    proxy.restore();
    await untilItTakesReads(lane);
    expect((await lane.run(read(3))).rows).toEqual([{ value: 3 }]);
  });

  test('gives up its connection for a new one where it stays silent', async () => {
    const { lane, proxy } = await openBehindProxy();
    proxy.freeze();
    await expect(lane.run(read(1))).rejects.toThrow('stuck');
    await vi.waitFor(() => expect(proxy.accepted()).toBeGreaterThan(1), { timeout: 20_000, interval: 50 });

    proxy.restore();
    await untilItTakesReads(lane);
    expect((await lane.run(read(2))).rows).toEqual([{ value: 2 }]);
  });
});

describe.runIf(template.kind === 'server')('a lane', () => {
  test('that was cut off rejects what is in flight and comes back', async () => {
    const { lane, proxy } = await openBehindProxy();
    const inFlight = lane.run(read(1));
    proxy.cut();
    await expect(inFlight).rejects.toThrow(/terminated|ECONN|EPIPE|stuck/);
    await vi.waitFor(() => expect(lane.load()).toBeUndefined());
    await expect(lane.run(read(2))).rejects.toThrow('no connection');
    proxy.restore();
    await untilItTakesReads(lane);
    expect((await lane.run(read(3))).rows).toEqual([{ value: 3 }]);
  });

  test('takes a bounded number of reads', async () => {
    const { lane } = await openBehindProxy();
    const inFlight: Promise<unknown>[] = [];
    while (lane.load() !== undefined && inFlight.length < 10_000) inFlight.push(lane.run(read(inFlight.length)));
    expect(inFlight.length).toBeLessThan(10_000);
    await Promise.all(inFlight);
    expect(lane.load()).toBe(0);
  });
});
