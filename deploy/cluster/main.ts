import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from './cluster.ts';
import { runFaults } from './faults.ts';
import { CannotRun } from './programs.ts';

/*
 * The service as a cluster on this machine: HAProxy in front of several nodes, PgBouncer in front of PostgreSQL, which is a
 * primary and its synchronous standby under Patroni, and Redis. All of it is on 127.0.0.1 and goes with this process.
 */

const usage = `npm run cluster [-- options]
  --nodes N     nodes of the service (3)
  --check       breaks its parts while clients write, says what was lost, and ends: 0 where nothing was
  --rounds N    how often each part is broken (1)
  --help        print this

It needs Debian's packages etcd-server, patroni, haproxy, pgbouncer, redis-server and postgresql.`;

const begun = performance.now();
const report = (what: string): void =>
  console.log(`${((performance.now() - begun) / 1_000).toFixed(1).padStart(6)} s  ${what}`);

function read() {
  const flag = { type: 'boolean', default: false } as const;
  const options = {
    nodes: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '1' },
    check: flag,
    help: flag,
  } as const;
  try {
    const { values } = parseArgs({ options });
    const [nodes, rounds] = [Number(values.nodes), Number(values.rounds)];
    if (!Number.isInteger(nodes) || nodes < 1) throw new Error('--nodes takes a number above 0');
    if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a number above 0');
    return { ...values, nodes, rounds };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}

const options = read();
if (options.help) {
  console.log(usage);
  process.exit(0);
}

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort());

try {
  const cluster = await startCluster(options.nodes, report);
  try {
    const signIn = JSON.parse(
      readFileSync(join(cluster.nodes[0]!.environment['DATA_DIR']!, 'demo-sign-in.json'), 'utf8'),
    ) as {
      email: string;
      password: string;
    };
    report('ready');
    if (options.check)
      process.exitCode = (await runFaults(cluster, signIn, { rounds: options.rounds, report })) ? 0 : 1;
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
      await new Promise((resolve) => ending.signal.addEventListener('abort', resolve));
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
