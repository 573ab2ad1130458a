import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import { findFreePort } from '../../server/startup/addresses.ts';
import { CannotRun, findPrograms, Parts, type Part } from './programs.ts';
import { haproxySettings, patroniSettings, pgbouncerSettings, type PostgresPorts } from './settings.ts';

export type Node = { name: string; port: number; environment: Record<string, string>; part: Part };
export type PostgresServer = { name: string; ports: PostgresPorts; folder: string; part: Part; start(): Part };

export type Cluster = {
  /** The nodes behind HAProxy. */
  url: string;
  /** The primary behind HAProxy, whichever it is. */
  postgresUrl: string;
  folder: string;
  nodes: Node[];
  servers: PostgresServer[];
  /** The server that Patroni says is the primary. */
  findPrimary(): Promise<PostgresServer>;
  /** Starts a node that has ended. */
  startNode(node: Node): Promise<void>;
  stopNode(node: Node): Promise<void>;
  stop(): Promise<void>;
};

const root = fileURLToPath(new URL('../..', import.meta.url));
const database = 'wms';

const withinMs = 90_000;

/** Calls `check` until it answers something; an error counts as nothing. */
export async function until<Answer>(
  what: string,
  check: () => Promise<Answer | undefined | false>,
  lastWords = () => '',
): Promise<Answer> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await check().catch(() => undefined);
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline)
      throw new CannotRun(`${what} took longer than ${withinMs / 1_000} s. ${lastWords()}`);
    await delay(100);
  }
}

const isOk = async (url: string): Promise<boolean> => (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;

/** Starts all parts on free ports of 127.0.0.1; `report` is told of each. */
export async function startCluster(nodesCount: number, report: (what: string) => void): Promise<Cluster> {
  const programs = findPrograms();
  const parts = new Parts();
  try {
    return await startParts(programs, parts, nodesCount, report);
  } catch (error) {
    await parts.stopAll();
    throw error;
  }
}

async function startParts(
  programs: ReturnType<typeof findPrograms>,
  parts: Parts,
  nodesCount: number,
  report: (what: string) => void,
): Promise<Cluster> {
  const port = () => findFreePort('127.0.0.1');
  const write = (name: string, text: string): string => {
    const file = join(parts.folder, name);
    writeFileSync(file, text, { mode: 0o644 });
    return file;
  };

  report('etcd and Redis');
  const [etcd, etcdPeer, redis] = [await port(), await port(), await port()];
  const etcdUrl = `http://127.0.0.1:${etcd}`;
  const peerUrl = `http://127.0.0.1:${etcdPeer}`;
  const flags = (given: Record<string, string>): string[] =>
    Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
  const etcdFlags = flags({
    name: 'one',
    'data-dir': join(parts.folderFor('etcd'), 'data'),
    'log-level': 'warn',
    'listen-client-urls': etcdUrl,
    'advertise-client-urls': etcdUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `one=${peerUrl}`,
  });
  parts.start('etcd', [programs.etcd, ...etcdFlags]);
  const redisFlags = {
    bind: '127.0.0.1',
    port: String(redis),
    save: '',
    appendonly: 'no',
    dir: parts.folderFor('redis'),
  };
  parts.start('redis', [programs['redis-server'], ...flags(redisFlags)]);
  await until('etcd', () => isOk(`${etcdUrl}/health`));

  report('PostgreSQL: a primary and its synchronous standby, under Patroni');
  const servers: PostgresServer[] = [];
  for (const name of ['postgres1', 'postgres2']) {
    const ports = { postgres: await port(), api: await port() };
    const folder = parts.folderFor(name);
    const settings = patroniSettings({ name, folder, bin: dirname(programs.postgres), etcd, ports });
    const file = write(`${name}.json`, settings);
    const start = () => parts.start(name, [programs.patroni, file]);
    servers.push({ name, ports, folder, start, part: start() });
    await until(
      name,
      () => isOk(`http://127.0.0.1:${ports.api}/${name === 'postgres1' ? 'primary' : 'replica'}`),
      () => parts.lastWords(name),
    );
  }
  await until('the synchronous standby', () => isOk(`http://127.0.0.1:${servers[1]!.ports.api}/sync`));

  report('HAProxy and PgBouncer');
  const [http, postgres, standby, pooler] = [await port(), await port(), await port(), await port()];
  const nodePorts: number[] = [];
  for (let count = 0; count < nodesCount; count += 1) nodePorts.push(await port());
  const ports = servers.map((server) => server.ports);
  const haproxy = haproxySettings({ http, postgres, standby, nodes: nodePorts, servers: ports });
  parts.start('haproxy', [programs.haproxy, '-W', '-db', '-f', write('haproxy.cfg', haproxy)]);
  const users = write('users.txt', '"postgres" "postgres"\n');
  const pgbouncer = write('pgbouncer.ini', pgbouncerSettings({ port: pooler, postgres, users }));
  parts.start('pgbouncer', [programs.pgbouncer, '-q', pgbouncer]);
  const urlAt = (at: number, name: string) => `postgres://postgres@127.0.0.1:${at}/${name}`;
  await until('HAProxy in front of PostgreSQL', async () => {
    const client = new pg.Client({ connectionString: urlAt(postgres, 'postgres'), connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    await client.connect();
    await client.query(`create database ${database}`).finally(() => client.end());
    return true;
  });

  report(`${nodesCount} nodes of the service`);
  const keys = await generateKeys();
  const nodes: Node[] = nodePorts.map((nodePort, index) => {
    const name = `node${index + 1}`;
    const environment = {
      PORT: String(nodePort),
      DATA_DIR: join(parts.folder, name),
      PUBLIC_URL: `http://127.0.0.1:${http}`,
      TRUST_PROXY: '127.0.0.1/32',
      AUTH_KEYS: keys,
      DATABASE_URL: urlAt(pooler, database),
      DATABASE_POOLER: 'transaction',
      DATABASE_DIRECT_URL: urlAt(postgres, database),
      DATABASE_REPLICA_URL: urlAt(standby, database),
      DATABASE_ROW_SECURITY: 'true',
      REDIS_URL: `redis://127.0.0.1:${redis}`,
      RATE_LIMIT_PER_MINUTE: '1000000',
      LOG_LEVEL: 'warn',
      SEED_DEMO: String(index === 0),
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
    };
    return { name, port: nodePort, environment, part: undefined as never };
  });
  async function startNode(node: Node): Promise<void> {
    node.part = parts.start(node.name, [process.execPath, 'server/main.ts'], {
      env: node.environment,
      cwd: root,
      asSelf: true,
    });
    await until(
      node.name,
      () => isOk(`http://127.0.0.1:${node.port}/readyz`),
      () => parts.lastWords(node.name),
    );
  }
  await Promise.all(nodes.map(startNode));
  await until('HAProxy in front of the nodes', () => isOk(`http://127.0.0.1:${http}/readyz`));

  return {
    url: `http://127.0.0.1:${http}`,
    postgresUrl: urlAt(postgres, database),
    folder: parts.folder,
    nodes,
    servers,
    findPrimary: () =>
      until('a primary', async () => {
        for (const server of servers)
          if (await isOk(`http://127.0.0.1:${server.ports.api}/primary`).catch(() => false)) return server;
        return undefined;
      }),
    startNode,
    stopNode: (node) => parts.stop(node.part),
    stop: () => parts.stopAll(),
  };
}
