import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Log } from '../../server/platform/log.ts';
import { createLimits, type Limits } from '../../server/platform/rate-limits.ts';
import { closeRedis, waitUntilReady, openRedis } from '../../server/platform/redis.ts';
import { endAllProcesses, makeHome, startProcess } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { startService } from '../support/service.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';

const redisUrl = process.env['TEST_REDIS_URL'] ?? '';

function createLog() {
  const lines: string[] = [];
  const write = (_: object, message: string) => void lines.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  return { lines, log };
}

async function open(url: string, log = createLog().log) {
  const redis = openRedis(url, log);
  onTestFinished(() => closeRedis(redis));
  await waitUntilReady(redis);
  return redis;
}

/** How many of the given attempts are let through. */
async function attempt(limits: Limits, key: string, attempts: number): Promise<number> {
  const tries = await Promise.allSettled(Array.from({ length: attempts }, async () => limits.codeSends.consume(key)));
  return tries.filter(({ status }) => status === 'fulfilled').length;
}

describe.skipIf(redisUrl === '')('limits in Redis', () => {
  test('are one budget for two nodes', async () => {
    const nodes = [
      createLimits({ requestsPerMinute: 600, redis: await open(redisUrl) }),
      createLimits({ requestsPerMinute: 600, redis: await open(redisUrl) }),
    ] as const;
    const key = randomUUID();
    const passed = await Promise.all(nodes.map((node) => attempt(node, key, 4)));
    expect(passed[0]! + passed[1]!).toBe(5);
    await expect(nodes[0].codeSends.consume(key)).rejects.toThrow('Too many requests');
  });

  test('take back on one node what another one took', async () => {
    const key = randomUUID();
    const [taker, giver] = [
      createLimits({ requestsPerMinute: 600, redis: await open(redisUrl) }),
      createLimits({ requestsPerMinute: 600, redis: await open(redisUrl) }),
    ];
    expect(await attempt(taker, key, 5)).toBe(5);
    await giver.codeSends.refund(key);
    expect(await attempt(taker, key, 2)).toBe(1);
  });

  test('are not consumed by what is refused', async () => {
    const key = randomUUID();
    const limits = createLimits({ requestsPerMinute: 600, redis: await open(redisUrl) });
    expect(await attempt(limits, key, 64)).toBe(5);
    await limits.codeSends.refund(key);
    expect(await attempt(limits, key, 1)).toBe(1);
  });

  test('stay counted when a node restarts', async () => {
    const key = randomUUID();
    expect(await attempt(createLimits({ requestsPerMinute: 600, redis: await open(redisUrl) }), key, 5)).toBe(5);
    expect(await attempt(createLimits({ requestsPerMinute: 600, redis: await open(redisUrl) }), key, 1)).toBe(0);
  });

  test('are kept by each node while Redis is away, silent or back, and said once in the log', async () => {
    const proxy = await startProxy(redisUrl, 6379);
    onTestFinished(() => proxy.close());
    const { log, lines } = createLog();
    const redis = await open(proxy.url, log);
    const limits = createLimits({ requestsPerMinute: 600, redis });

    proxy.freeze();
    const begun = performance.now();
    expect(await attempt(limits, randomUUID(), 6)).toBe(5);
    expect(performance.now() - begun).toBeLessThan(2_000);

    proxy.cut();
    await waitFor(() => expect(redis.status).not.toBe('ready'));
    expect(await attempt(limits, randomUUID(), 6)).toBe(5);
    await waitFor(() => expect(lines).toHaveLength(1));

    proxy.restore();
    await waitFor(() => expect(redis.status).toBe('ready'));
    const key = randomUUID();
    expect(await attempt(limits, key, 5)).toBe(5);
    expect(await attempt(createLimits({ requestsPerMinute: 600, redis: await open(redisUrl) }), key, 1)).toBe(0);
    expect(lines).toEqual(['Redis is away: each node counts for itself until it is back', 'Redis is back']);
  });
});

describe.skipIf(redisUrl === '')('a Redis that goes silent', () => {
  afterAll(endAllProcesses);

  test('delays the first requests alone, is told in the log and in /metrics, and is used again once it answers', async () => {
    const proxy = await startProxy(redisUrl, 6379);
    const home = await makeHome();
    onTestFinished(async () => {
      await endAllProcesses();
      await proxy.close();
      await home.remove();
    });
    const service = await startProcess({ ...home.environment, REDIS_URL: proxy.url, SEED_DEMO: 'false' });
    const isUp = async () => /^redis_up (\d)$/m.exec(await (await fetch(`${service.url}/metrics`)).text())?.[1];
    const ask = async () => expect((await fetch(`${service.url}/api/sessions/`)).status).toBe(401);
    expect(await isUp()).toBe('1');

    proxy.freeze();
    for (let asked = 0; asked < 5; asked += 1) await ask();
    await waitUntil(async () => (await isUp()) === '0');
    const begun = performance.now();
    for (let asked = 0; asked < 20; asked += 1) await ask();
    // Each of them would have waited for 300 ms.
    expect(performance.now() - begun).toBeLessThan(3_000);

    proxy.restore();
    await waitUntil(async () => (await isUp()) === '1');
    await ask();
    const told = service.stdout().match(/Redis is [^"]*/g);
    expect(told).toEqual(['Redis is away: each node counts for itself until it is back', 'Redis is back']);
  });
});

describe('a service whose Redis never answers', () => {
  const nowhere = openRedis('redis://127.0.0.1:1', createLog().log);
  afterAll(() => closeRedis(nowhere));

  test('answers, and counts for itself', async () => {
    const service = await startService({ limits: createLimits({ requestsPerMinute: 3, redis: nowhere }) });
    const statuses: number[] = [];
    for (let sent = 0; sent < 4; sent += 1)
      statuses.push((await service.anonymous.post('/get-register-otp/', { email: 'ada@example.com' })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});
