import { loadavg } from 'node:os';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import type { Session } from './arrivals.ts';
import { countConnections, measureFanOut } from './fan-out.ts';
import { callsAtOnce, readOptions } from './options.ts';
import { print, type Figures, type Result } from './print.ts';
import { prepareComments, longTaskComments, makeChatBed, signInAgain } from './world.ts';
import { endAll } from '../support/at-end.ts';
import { openCluster } from '../support/cluster.ts';
import type { Bed } from '../support/database.ts';
import { startGenerator, type Generator } from '../support/generator.ts';
import type { Load } from '../load/job.ts';
import { choosePinning, cpuSecondsOf, describeMachine, residentMb, machineInWords } from '../support/machine.ts';
import { commentsPerTask } from '../support/seed-comments.ts';
import { startNode, type ServiceProcess } from '../support/service-process.ts';
import type { World } from '../support/world.ts';

/*
 * The cost of comments: reading and writing them, the list of notifications and its unread count, and the time from a
 * write to its event at a thousand subscribers. The service runs unchanged in a separate process; see README.md.
 */

const report = (what: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1B[K${what}`);
  else if (what !== '' && !/^\d+ of |: \d*[1-9] of /.test(what)) process.stderr.write(`${what}\n`);
};

function read(): ReturnType<typeof readOptions> {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

/** Connections that one session holds; the service lets it hold a thousand. */
const connectionsPerSession = 500;

const options = read();
const listeners = {
  webSockets: options.sockets - options.stalled,
  eventStreams: options.streams,
  stalled: options.stalled,
  others: options.others,
};
const pinning = choosePinning();
const cluster = await openCluster().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});

/** The service as it is run, profiled where that is wanted. */
function startService(bed: Bed, keys: string): Promise<ServiceProcess> {
  const { profileTo } = options;
  const flags = profileTo === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileTo}`];
  return startNode({ DATABASE_URL: bed.url, AUTH_KEYS: keys }, { cores: pinning?.server, flags });
}

type Ask = { title: string; operation: string; world: World };

async function measureOperation(
  { title, operation, world }: Ask,
  { bed, service, generator, headers }: Bench,
): Promise<Figures> {
  report(title);
  const callers = [{ employeeId: world.employeeId, headers }];
  const run = async (atOnce: number, seconds: number): Promise<Load> => {
    const { url } = service;
    const job = { url, operation, format: 'rest', callers, world, connections: atOnce, seconds } as const;
    const load = await generator.run(job);
    if (load.failures > 0) throw new Error(`${title}: ${load.failures} answers were no 200`);
    return load;
  };
  await run(callsAtOnce, options.seconds / 2);
  if (pinning) await bed.pinTo(pinning.database);
  const { p50, p95, p99 } = await run(1, options.seconds);
  const cpuBefore = cpuSecondsOf(service.pid);
  const { requestsPerSecond, requests } = await run(callsAtOnce, options.seconds);
  const cpuMicros = ((cpuSecondsOf(service.pid) - cpuBefore) * 1e6) / requests;
  return { operation: title, alone: { p50, p95, p99 }, perSecond: requestsPerSecond, cpuMicros };
}

type Bench = { bed: Bed; service: ServiceProcess; generator: Generator; headers: Session };

/** Has everybody listen to one task, and writes on it. */
async function measureListeners({ bed, service, headers }: Bench, taskId: number, sessions: Session[]) {
  const { url } = service;
  const comment = { taskId, sender: bed.world.employeeId, message: '<p>It works since this morning.</p>' };
  const sent = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(comment),
  };
  const write = async (): Promise<void> => {
    const answer = await fetch(`${url}/api/task-chats/`, sent);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`a comment was answered ${answer.status}`);
  };
  return measureFanOut({ url, taskId, ...listeners, sessions }, write, { writes: options.writes, pinning, report });
}

async function measure(result: Result): Promise<void> {
  const bed = await makeChatBed(cluster, report);
  const { world } = bed;
  const { short, long, listenedTo } = await prepareComments(bed);
  const keys = await generateKeys();
  const service = await startService(bed, keys);
  const connections = countConnections(listeners);
  const [headers, ...sessions] = await signInAgain(bed, keys, 1 + Math.ceil(connections / connectionsPerSession));
  const generator = startGenerator(pinning);
  const bench = { bed, service, generator, headers: headers! };
  for (const ask of [
    { title: `list ${commentsPerTask} comments`, operation: 'list-comments', world: short },
    { title: `list ${longTaskComments.toLocaleString('en')} comments`, operation: 'list-comments', world: long },
    { title: 'create a comment', operation: 'create-comment', world },
    { title: 'first page of 20,000 notifications', operation: 'notifications', world },
    { title: 'unread count', operation: 'unread-count', world },
  ])
    result.operations.push(await measureOperation(ask, bench));
  if (connections > 0) result.fanOut = await measureListeners(bench, listenedTo, sessions);
  result.residentMb = residentMb(service.pid);
}

const machine = describeMachine(cluster.version);
const result: Result = { machine, pinned: pinning?.says ?? 'nothing', operations: [] };
let hasFailed = false;
try {
  console.log(machineInWords(machine));
  console.log(`pinned: ${result.pinned}; load average before: ${machine.loadBefore}`);
  await measure(result);
  result.machine.loadAfter = Number(loadavg()[0]!.toFixed(1));
  report('');
  print(result, listeners);
  console.log(`load average after: ${result.machine.loadAfter}`);
  if (options.json) console.log(JSON.stringify(result, null, 2));
} catch (error) {
  hasFailed = true;
  report('');
  console.error(error instanceof Error ? error.message : error);
} finally {
  await endAll();
}
process.exit(hasFailed ? 1 : 0);
