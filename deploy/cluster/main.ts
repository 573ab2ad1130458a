import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.ts';
import { startCluster } from './cluster.ts';
import { faults } from './faults.ts';
import { CannotRun } from './programs.ts';

/*
 * The service as a cluster on this machine: HAProxy in front of several nodes, PgBouncer in front of PostgreSQL, which is a
 * primary and its synchronous standby under Patroni, and Redis. All of it is on 127.0.0.1 and goes with this process.
 */

const usage = `npm run cluster [-- options]
  --nodes N     nodes of the service (3)
  --campaign    breaks its parts while clients work, for half an hour; ends with 0 if all held that must hold
  --check       the same in less than a minute
  --only NAMES  of the faults: kill, failover, silence, cut, redis, restart; by comma
  --rounds N    how often each of them
  --clients N   how many clients work (50; with --check 12)
  --seed N      decides what is broken
  --result FILE writes the figures there
  --help        print this

It needs Debian's packages etcd-server, patroni, haproxy, pgbouncer, redis-server and postgresql.`;

const begun = performance.now();
const report = (what: string): void =>
  console.log(`${((performance.now() - begun) / 1_000).toFixed(1).padStart(6)} s  ${what}`);

function read() {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  const options = {
    nodes: text,
    campaign: flag,
    check: flag,
    only: text,
    rounds: text,
    clients: text,
    seed: text,
    result: text,
    help: flag,
  } as const;
  try {
    const { values } = parseArgs({ options });
    const number = (name: 'nodes' | 'rounds' | 'clients' | 'seed'): number | undefined => {
      if (values[name] === undefined) return undefined;
      if (!/^[1-9]\d{0,8}$/.test(values[name])) throw new Error(`--${name} takes a number above 0`);
      return Number(values[name]);
    };
    const only = values.only?.split(',') ?? [];
    const names = faults.map(({ name }) => name);
    if (!only.every((name) => names.includes(name))) throw new Error(`--only takes ${names.join(', ')}, by comma`);
    return {
      nodes: number('nodes') ?? 3,
      isCampaign: values.campaign || values.check,
      isShort: values.check,
      only,
      rounds: number('rounds'),
      clients: number('clients') ?? (values.check ? 12 : 50),
      seed: number('seed') ?? (values.check ? 1 : Math.ceil(Math.random() * 1e9)),
      resultFile: values.result,
      isHelp: values.help,
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}

const options = read();
if (options.isHelp) {
  console.log(usage);
  process.exit(0);
}

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort());
const ended = new Promise<false>((resolve) => ending.signal.addEventListener('abort', () => resolve(false)));

try {
  const cluster = await startCluster({ nodesCount: options.nodes, hasLinks: options.isCampaign, report });
  try {
    const signIn = JSON.parse(
      readFileSync(join(cluster.nodes[0]!.environment['DATA_DIR']!, 'demo-sign-in.json'), 'utf8'),
    ) as {
      email: string;
      password: string;
    };
    report('ready');
    if (options.isCampaign)
      process.exitCode = (await Promise.race([runCampaign(cluster, signIn, { ...options, report }), ended])) ? 0 : 1;
    else {
      console.log(`
  HAProxy         ${cluster.url}
  API reference   ${cluster.url}/docs
  Nodes           ${cluster.nodes.map(({ port }) => `http://127.0.0.1:${port}`).join('  ')}
  PostgreSQL      ${cluster.postgresUrl}  (the primary, behind HAProxy)
  Patroni         ${cluster.servers.map(({ ports }) => `http://127.0.0.1:${ports.api}/cluster`).join('  ')}
  Demo sign-in    ${signIn.email}  ${signIn.password}
  Logs            ${cluster.folder}

  Ctrl-C ends all of it.
`);
      await ended;
    }
  } finally {
    report('ending');
    await cluster.stop();
  }
} catch (error) {
  if (!(error instanceof CannotRun)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
process.exit();
