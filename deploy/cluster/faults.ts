import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type Client } from '../../client-sdk/src/index.ts';
import { until, type Cluster } from './cluster.ts';

/*
 * Breaks the cluster's parts while clients write, as the SDK writes: each write has a key by which it happens once, and is tried
 * again while nothing answers. At the end each write that was acknowledged must be there, and each once.
 */

type SignIn = { email: string; password: string };
type Options = { rounds: number; report(what: string): void };

const writers = 8;
/** The longest that no write may be acknowledged after a part was broken. */
const backWithinMs = 10_000;

class Writers {
  readonly acknowledged: string[] = [];
  /** When writes were acknowledged. */
  readonly times: number[] = [];
  readonly failures: string[] = [];
  #isEnding = false;
  #running: Promise<unknown> | undefined;

  start(client: Client): void {
    const write = async (writer: number) => {
      for (let count = 0; !this.#isEnding; count += 1) {
        const name = `written ${writer} ${count}`;
        try {
          await client.projects.create({ name }, { retries: 100, timeoutMs: 60_000, tryTimeoutMs: 15_000 });
          this.acknowledged.push(name);
          this.times.push(performance.now());
        } catch (error) {
          this.failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
        }
        await delay(20);
      }
    };
    this.#running = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  }

  async stop(): Promise<void> {
    this.#isEnding = true;
    await this.#running;
  }

  /** The longest time without an acknowledged write since then. */
  longestGapSince(since: number): number {
    const times = [since, ...this.times.filter((time) => time > since)];
    return Math.max(...times.slice(1).map((time, index) => time - times[index]!));
  }
}

/** Returns whether all that was acknowledged is there, each once, and the service was back in time. */
export async function runFaults(cluster: Cluster, signIn: SignIn, { rounds, report }: Options): Promise<boolean> {
  const client = createClient({ baseUrl: cluster.url });
  await client.auth.login(signIn);
  const work = new Writers();
  work.start(client);
  await until('the first writes', async () => work.acknowledged.length > 20);
  let isInTime = true;

  async function breakPart(what: string, act: () => Promise<void>, limitMs = backWithinMs): Promise<void> {
    const since = performance.now();
    const before = work.acknowledged.length;
    await act();
    await until('writes go on', async () => work.acknowledged.length > before + 100);
    const gapMs = work.longestGapSince(since);
    if (gapMs > limitMs) isInTime = false;
    report(
      `${what}: no write for ${(gapMs / 1_000).toFixed(1)} s at most${gapMs > limitMs ? ', WHICH IS TOO LONG' : ''}`,
    );
  }

  for (let round = 0; round < rounds; round += 1) {
    await breakPart('a node was killed', async () => {
      const node = cluster.nodes[round % cluster.nodes.length]!;
      process.kill(-node.part.pid, 'SIGKILL');
      await node.part.ended;
      await cluster.startNode(node);
    });
    await breakPart('the primary was killed, and the standby took over', async () => {
      const primary = await cluster.findPrimary();
      process.kill(postmasterOf(primary.folder), 'SIGKILL');
      await until('another primary', async () => (await cluster.findPrimary()).name !== primary.name);
    });
    await until('a synchronous standby', async () => {
      const states = await Promise.all(
        cluster.servers.map(async ({ ports }) => (await fetch(`http://127.0.0.1:${ports.api}/sync`)).ok),
      );
      return states.includes(true);
    });
    await breakPart('the nodes were restarted, one after the other', async () => {
      for (const node of cluster.nodes) {
        await cluster.stopNode(node);
        await cluster.startNode(node);
      }
    });
  }

  await work.stop();
  const there = new Map<string, number>();
  const { company_id } = client.session!.company!;
  for await (const { name } of client.projects.list({ company_id })) there.set(name, (there.get(name) ?? 0) + 1);
  const lost = work.acknowledged.filter((name) => !there.has(name));
  const doubled = [...there].filter(([name, count]) => name.startsWith('written ') && count > 1);
  report(
    `${work.acknowledged.length} writes were acknowledged: ${lost.length} of them are lost, ${doubled.length} are doubled; ${work.failures.length} failed after all retries`,
  );
  for (const failure of work.failures.slice(0, 5)) report(`  ${failure}`);
  return isInTime && lost.length === 0 && doubled.length === 0 && work.failures.length === 0;
}

const postmasterOf = (folder: string): number =>
  Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n', 1)[0]);
