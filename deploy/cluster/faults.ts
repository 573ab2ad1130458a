import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../test/fuzz/random.ts';
import type { Clients, Patience } from './clients.ts';
import { until, type Cluster } from './cluster.ts';
import { faultsOfLinks } from './links.ts';

/** What is done to the cluster, and what must hold. */
export type Fault = {
  name: string;
  title: string;
  /** How often in the whole campaign, and in its short form. */
  rounds: number;
  shortRounds: number;
  /** The longest without an acknowledged write, and with answers other than 200, since the moment that `act` returns. */
  backWithinMs: number;
  patience: Patience;
  /** How often the SDK may have to send a write. */
  attemptsMax?: number;
  /** No request may fail, those without a retry included. */
  isSilent?: boolean;
  /** The longest that an event may take. */
  eventsWithinMs?: number;
  /** Breaks and mends; returns the moment since when the service must be back within its time, and what was done. */
  act(place: Place): Promise<{ since: number; what: string; problems?: string[] }>;
};
type Place = { cluster: Cluster; clients: Clients; random: Random; round: number };

/**
 * Limits are counted by all nodes together, or by each for itself: between two calls at one node there is one at another, which
 * counts or does not.
 */
async function checkLimits({ nodes }: Cluster, clients: Clients, expected: string): Promise<string[]> {
  const [one, other] = nodes;
  const before = await clients.scripts.remainingAt(one!);
  await clients.scripts.remainingAt(other!);
  const used = before - (await clients.scripts.remainingAt(one!));
  const found = used === 2 ? 'shared' : 'per node';
  return found === expected ? [] : [`limits were counted ${found} (${used}), not ${expected}`];
}

/** Longer than a part takes to notice that another does not answer. */
const cutMs = 4_000;

async function standbyIsReady(cluster: Cluster): Promise<void> {
  await until('a synchronous standby', async () => {
    const states = await Promise.all(
      cluster.servers.map(async ({ ports }) => (await fetch(`http://127.0.0.1:${ports.api}/sync`)).ok),
    );
    return states.includes(true);
  });
}

const anotherThan = (cluster: Cluster, name: string) =>
  until('another primary', async () => (await cluster.findPrimary()).name !== name);

const killNode: Fault = {
  name: 'kill',
  title: 'a node is killed',
  rounds: 100,
  shortRounds: 1,
  backWithinMs: 5_000,
  patience: 'default',
  attemptsMax: 2,
  async act({ cluster, random }) {
    const since = performance.now();
    const node = random.pick(cluster.nodes);
    process.kill(-node.part.pid, 'SIGKILL');
    await node.part.ended;
    await cluster.startNode(node);
    return { since, what: node.name };
  },
};

const failover: Fault = {
  name: 'failover',
  title: 'the primary is killed, its connections are reset',
  rounds: 20,
  shortRounds: 1,
  backWithinMs: 10_000,
  patience: 'long',
  async act({ cluster }) {
    await standbyIsReady(cluster);
    const since = performance.now();
    const primary = await cluster.findPrimary();
    process.kill(postmasterOf(primary.folder), 'SIGKILL');
    await anotherThan(cluster, primary.name);
    return { since, what: primary.name };
  },
};

const silentFailover: Fault = {
  name: 'silence',
  title: 'the machine of the primary vanishes, all packets are dropped',
  rounds: 20,
  shortRounds: 1,
  backWithinMs: 10_000,
  patience: 'long',
  async act({ cluster }) {
    await standbyIsReady(cluster);
    const primary = await cluster.findPrimary();
    const since = performance.now();
    for (const link of primary.links) link.set('silent');
    try {
      const others = cluster.servers.filter(({ name }) => name !== primary.name);
      await until('another primary', async () => {
        const answers = others.map(({ ports }) => fetch(`http://127.0.0.1:${ports.api}/primary`));
        return (await Promise.all(answers)).some(({ ok }) => ok);
      });
      const seconds = ((performance.now() - since) / 1_000).toFixed(1);
      // It comes back as one that knows nothing of it.
      await delay(cutMs);
      return { since, what: `${primary.name}, another was primary after ${seconds} s` };
    } finally {
      for (const link of primary.links) link.set('open');
    }
  },
};

const cutLink: Fault = {
  name: 'cut',
  title: 'the network between two parts fails for 4 s',
  rounds: 50,
  shortRounds: 1,
  backWithinMs: 5_000,
  patience: 'long',
  async act({ cluster, random, round }) {
    const link = random.pick(cluster.links);
    const state = faultsOfLinks[round % faultsOfLinks.length]!;
    link.set(state);
    await delay(cutMs);
    link.set('open');
    return { since: performance.now(), what: `${link.name}: ${state}` };
  },
};

const redis: Fault = {
  name: 'redis',
  title: 'Redis is lost, flushed, slow or silent',
  rounds: 12,
  shortRounds: 1,
  backWithinMs: 1_500,
  patience: 'default',
  isSilent: true,
  eventsWithinMs: 2_000,
  async act({ cluster, clients, round }) {
    const check = (expected: string) => checkLimits(cluster, clients, expected);
    const since = performance.now();
    const problems = await check('shared');
    const kind = (['lost', 'flushed', 'slow', 'silent'] as const)[round % 4]!;
    const links = cluster.links.filter(({ name }) => name.endsWith('and Redis'));
    if (kind === 'lost') await cluster.killRedis();
    else if (kind === 'flushed') await flush(cluster.redisPort);
    else for (const link of links) link.set(kind);
    await delay(cutMs);
    if (kind === 'lost' || kind === 'silent') problems.push(...(await check('per node')));
    if (kind === 'lost') await cluster.startRedis();
    for (const link of links) link.set('open');
    // One connection a second is tried.
    await until('shared limits', async () => (await check('shared')).length === 0);
    return { since, what: kind, problems };
  },
};

const restartNodes: Fault = {
  name: 'restart',
  title: 'the nodes are restarted, one after the other',
  rounds: 5,
  shortRounds: 1,
  backWithinMs: 1_500,
  patience: 'default',
  isSilent: true,
  async act({ cluster }) {
    const since = performance.now();
    for (const node of cluster.nodes) {
      await cluster.stopNode(node);
      await cluster.startNode(node);
    }
    return { since, what: `${cluster.nodes.length} nodes` };
  },
};

export const faults: Fault[] = [killNode, failover, silentFailover, cutLink, redis, restartNodes];

const postmasterOf = (folder: string): number =>
  Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n', 1)[0]);

async function flush(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.end('FLUSHALL\r\n');
  await once(socket.resume(), 'close');
}
