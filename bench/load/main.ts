import { findHotSpotOperation } from '../operations/hot-spot-operations.ts';
import { furtherOperations, operations } from '../operations/operations.ts';
import { callsPerRequest, toRequest } from '../operations/requests.ts';
import { openConnection, type Connection } from './connection.ts';
import type { Job, Load } from './job.ts';

/*
 * The load generator: a separate process on its own core, controlled by its parent. Requests of reads are created once
 * and sent in turns; those of writes are created when sent, because no two may be equal.
 */

/** The number of different requests of a read, enough to defeat caches. */
const variety = 512;

function requestsOf({ url, operation: name, format, callers, world }: Job): () => Buffer {
  const operation = operations[name] ?? furtherOperations[name] ?? findHotSpotOperation(name);
  if (!operation) throw new Error(`there is no operation ${name}`);
  const { host } = new URL(url);
  const make = () => {
    const { employeeId, headers, own } = operation.isOfFirst
      ? callers[0]!
      : callers[Math.floor(Math.random() * callers.length)]!;
    return toRequest(operation, { world: { ...world, ...own, employeeId }, format, host, headers });
  };
  if (operation.kind === 'mutation') return make;
  const made = Array.from({ length: variety }, make);
  let next = 0;
  return () => made[(next += 1) % variety]!;
}

type Measured = { latencies: number[]; failures: number };

/** Each connection sends its next request when it has its answer. */
async function closedLoop(connections: Connection[], request: () => Buffer, untilMs: number): Promise<Measured> {
  const latencies: number[] = [];
  let failures = 0;
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((done) => {
          const next = (): void => {
            const start = performance.now();
            if (start >= untilMs) return done();
            connection.send(request(), (status) => {
              latencies.push(performance.now() - start);
              if (status === 200) return next();
              failures += 1;
              // A dead server would be called in a loop that never yields.
              setImmediate(next);
            });
          };
          next();
        }),
    ),
  );
  return { latencies, failures };
}

/**
 * Requests arrive at a steady rate, in bursts of a timer's millisecond, and wait if all connections are busy: that wait
 * counts, as it does for people.
 */
async function openLoop(
  connections: Connection[],
  request: () => Buffer,
  { untilMs, rate }: { untilMs: number; rate: number },
): Promise<Measured> {
  const latencies: number[] = [];
  let failures = 0;
  const free = [...connections];
  const waiting: number[] = [];
  const begun = performance.now();
  let arrived = 0;
  let open = 0;
  await new Promise<void>((done) => {
    const send = (connection: Connection, since: number): void => {
      open += 1;
      connection.send(request(), (status) => {
        open -= 1;
        latencies.push(performance.now() - since);
        if (status !== 200) failures += 1;
        const next = waiting.shift();
        if (next === undefined) free.push(connection);
        else send(connection, next);
      });
    };
    const tick = (): void => {
      const now = performance.now();
      if (now >= untilMs) waiting.length = 0;
      if (now >= untilMs && open === 0) return done();
      const due = now < untilMs ? Math.ceil(((now - begun) * rate) / 1000) : 0;
      for (; arrived < due; arrived += 1) {
        const connection = free.pop();
        if (connection) send(connection, now);
        else waiting.push(now);
      }
      setTimeout(tick, 1);
    };
    tick();
  });
  return { latencies, failures };
}

async function run(job: Job): Promise<Load> {
  const { hostname, port } = new URL(job.url);
  const address = { host: hostname, port: Number(port) };
  const connections = await Promise.all(Array.from({ length: job.connections }, () => openConnection(address)));
  const request = requestsOf(job);
  const cpu = process.cpuUsage();
  const start = performance.now();
  const untilMs = start + job.seconds * 1000;
  const { rate } = job;
  const { latencies, failures } =
    rate === undefined
      ? await closedLoop(connections, request, untilMs)
      : await openLoop(connections, request, { untilMs, rate });
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  for (const connection of connections) connection.close();

  const sorted = Float64Array.from(latencies).toSorted();
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  const requestsPerSecond = (latencies.length - failures) / seconds;
  return {
    requests: latencies.length,
    requestsPerSecond,
    callsPerSecond: requestsPerSecond * callsPerRequest(job.format),
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    failures,
    failureShare: failures / latencies.length,
    generatorShare: (user + system) / 1e6 / seconds,
  };
}

process.on('message', (job: Job) => {
  run(job).then(
    (load) => process.send!({ load }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
