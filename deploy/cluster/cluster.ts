import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import { findFreePort } from '../../server/startup/addresses.ts';
import { Link } from './links.ts';
import { CannotRun, findPrograms, Parts, type Part } from './programs.ts';
import { haproxySettings, patroniSettings, pgbouncerSettings, type PostgresPorts } from './settings.ts';

export type Node = { name: string; port: number; environment: Record<string, string>; part: Part };
export type PostgresServer = {
  name: string;
  ports: PostgresPorts;
  folder: string;
  part: Part;
  /** All that leads to it and from it. */
  links: Link[];
};

export type Cluster = {
  /** The nodes behind HAProxy. */
  url: string;
  /** The same by way of the link between clients and HAProxy. */
  clientUrl: string;
  /** The primary behind HAProxy, whichever it is. */
  postgresUrl: string;
  folder: string;
  nodes: Node[];
  servers: PostgresServer[];
  redisPort: number;
  /** Between all parts that speak to each other; none unless they were asked for. */
  links: Link[];
  /** The server that Patroni says is the primary. */
  findPrimary(): Promise<PostgresServer>;
  /** Starts a node that has ended. */
  startNode(node: Node): Promise<void>;
  stopNode(node: Node): Promise<void>;
  /** The last lines of a part's log. */
  lastWords(name: string): string;
  killRedis(): Promise<void>;
  startRedis(): Promise<void>;
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

/** Gives HAProxy a command. */
async function tell(socket: string, command: string): Promise<void> {
  const connection = connect(socket);
  connection.end(`${command}\n`);
  await once(connection.resume(), 'close');
}

const isOk = async (url: string): Promise<boolean> => (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;

type Options = { nodesCount: number; hasLinks: boolean; report(what: string): void };

/** Starts all parts on free ports of 127.0.0.1; `report` is told of each. */
export async function startCluster(options: Options): Promise<Cluster> {
  const programs = findPrograms();
  const parts = new Parts();
  try {
    return await startParts(programs, parts, options);
  } catch (error) {
    await parts.stopAll();
    throw error;
  }
}

async function startParts(
  programs: ReturnType<typeof findPrograms>,
  parts: Parts,
  { nodesCount, hasLinks, report }: Options,
): Promise<Cluster> {
  const links: Link[] = [];
  /** The way from one part to the ports of another. */
  const link = (name: string): Pick<Link, 'to'> => {
    if (!hasLinks) return { to: async (to) => to };
    const added = new Link(name);
    links.push(added);
    return added;
  };
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
  const launchRedis = () => parts.start('redis', [programs['redis-server'], ...flags(redisFlags)]);
  let redisPart = launchRedis();
  await until('etcd', () => isOk(`${etcdUrl}/health`));

  report('PostgreSQL: a primary and its synchronous standby, under Patroni');
  const servers: PostgresServer[] = [];
  const between = link('postgres1 and postgres2');
  for (const name of ['postgres1', 'postgres2']) {
    const ports = { postgres: await port(), api: await port() };
    const folder = parts.folderFor(name);
    const settings = patroniSettings({
      name,
      folder,
      bin: dirname(programs.postgres),
      etcd: await link(`${name} and etcd`).to(etcd),
      ports,
      portsForPeer: { postgres: await between.to(ports.postgres), api: await between.to(ports.api) },
    });
    const part = parts.start(name, [programs.patroni, write(`${name}.json`, settings)]);
    servers.push({ name, ports, folder, part, links: [] });
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
  const ports: PostgresPorts[] = [];
  for (const server of servers) {
    const way = link(`HAProxy and ${server.name}`);
    ports.push({ postgres: await way.to(server.ports.postgres), api: await way.to(server.ports.api) });
    server.links = links.filter(({ name }) => name.includes(server.name));
  }
  const socket = join(parts.folderFor('haproxy'), 'socket');
  const nodeWays: number[] = [];
  for (const [index, to] of nodePorts.entries()) nodeWays.push(await link(`HAProxy and node${index + 1}`).to(to));
  const haproxy = haproxySettings({ http, postgres, standby, nodes: nodeWays, servers: ports, socket });
  parts.start('haproxy', [programs.haproxy, '-W', '-db', '-f', write('haproxy.cfg', haproxy)]);
  const users = write('users.txt', '"postgres" "postgres"\n');
  const pgbouncer = write(
    'pgbouncer.ini',
    pgbouncerSettings({ port: pooler, postgres: await link('PgBouncer and HAProxy').to(postgres), users }),
  );
  parts.start('pgbouncer', [programs.pgbouncer, '-q', pgbouncer]);
  const urlAt = (at: number, name: string) => `postgres://postgres@127.0.0.1:${at}/${name}`;
  await until('HAProxy in front of PostgreSQL', async () => {
    const client = new pg.Client({ connectionString: urlAt(postgres, 'postgres'), connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    await client.connect();
    try {
      // A connection that is cut may have made it.
      const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
      if (rowCount === 0) await client.query(`create database ${database}`);
      return true;
    } finally {
      await client.end();
    }
  });

  report(`${nodesCount} nodes of the service`);
  const keys = await generateKeys();
  const nodes: Node[] = [];
  for (const [index, nodePort] of nodePorts.entries()) {
    const name = `node${index + 1}`;
    const environment = {
      PORT: String(nodePort),
      DATA_DIR: join(parts.folder, name),
      PUBLIC_URL: `http://127.0.0.1:${http}`,
      TRUST_PROXY: '127.0.0.1/32',
      AUTH_KEYS: keys,
      DATABASE_URL: urlAt(await link(`${name} and PgBouncer`).to(pooler), database),
      DATABASE_POOLER: 'transaction',
      DATABASE_DIRECT_URL: urlAt(await link(`${name} and PostgreSQL`).to(postgres), database),
      DATABASE_REPLICA_URL: urlAt(await link(`${name} and the standby`).to(standby), database),
      DATABASE_ROW_SECURITY: 'true',
      REDIS_URL: `redis://127.0.0.1:${await link(`${name} and Redis`).to(redis)}`,
      RATE_LIMIT_PER_MINUTE: '1000000',
      LOG_LEVEL: 'warn',
      SEED_DEMO: String(index === 0),
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
    };
    nodes.push({ name, port: nodePort, environment, part: undefined as never });
  }
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
    await tell(socket, `set server nodes/${node.name} state ready`);
  }
  await Promise.all(nodes.map(startNode));
  await until('HAProxy in front of the nodes', () => isOk(`http://127.0.0.1:${http}/readyz`));

  return {
    url: `http://127.0.0.1:${http}`,
    clientUrl: `http://127.0.0.1:${await link('clients and HAProxy').to(http)}`,
    links,
    redisPort: redis,
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
    async stopNode(node) {
      // New requests go elsewhere before it refuses them.
      await tell(socket, `set server nodes/${node.name} state drain`);
      await parts.stop(node.part);
    },
    lastWords: (name) => parts.lastWords(name),
    async killRedis() {
      await parts.stop(redisPart, 'SIGKILL');
    },
    async startRedis() {
      redisPart = launchRedis();
    },
    async stop() {
      for (const one of links) one.close();
      await parts.stopAll();
    },
  };
}
