import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { createRandom, type Random } from '../../test/fuzz/random.ts';
import { checkHistory } from '../../test/history/history.ts';
import { Clients, type SignIn } from './clients.ts';
import { until, type Cluster } from './cluster.ts';
import { faults, type Fault } from './faults.ts';

/*
 * Breaks the cluster's parts, one after the other and again and again, while clients work, and says what they noticed. Each
 * history of some rounds is checked: see test/history/history.ts.
 */

export type CampaignOptions = {
  isShort: boolean;
  /** Instead of each fault's own number. */
  rounds: number | undefined;
  only: string[];
  clients: number;
  seed: number;
  resultFile: string | undefined;
  report(what: string): void;
};

/** Rounds in one history: lists are read whole, and long ones take longer. */
const roundsOfHistory = 6;
const problemsShown = 5;
/** The short form runs beside other work: it is there for what clients see, and takes times as the campaign does only roughly. */
const shortFormSlack = 2;

type Row = {
  fault: string;
  rounds: number;
  /** The longest without an acknowledged write or with another answer than 200, in each round. */
  backMs: { median: number; max: number; limit: number };
  acknowledged: number;
  /** Of acknowledged writes, how often the SDK sent the one that needed most. */
  attemptsMax: number;
  /** Answers to a caller who tries once, by status; 0 is none. */
  answers: Record<string, number>;
  unknownWrites: number;
  eventsLateMsMax: number;
  problems: string[];
};

/** Returns whether everything held. */
export async function runCampaign(cluster: Cluster, signIn: SignIn, options: CampaignOptions): Promise<boolean> {
  const { isShort, only, seed, report, resultFile } = options;
  const { url, clientUrl } = cluster;
  const clients = new Clients({ url, clientUrl, signIn, count: options.clients });
  await clients.open();
  report(`${options.clients} clients, seed ${seed}`);
  const rows: Row[] = [];
  for (const fault of faults) {
    if (only.length > 0 && !only.includes(fault.name)) continue;
    const rounds = options.rounds ?? (isShort ? fault.shortRounds : fault.rounds);
    const slack = isShort ? shortFormSlack : 1;
    const row = await runFault({ cluster, clients, fault, rounds, slack, seed, report });
    rows.push(row);
    report(describe(row));
    for (const problem of row.problems.slice(0, problemsShown)) report(`  ${problem}`);
    if (row.problems.length > problemsShown) report(`  and ${row.problems.length - problemsShown} more`);
    if (resultFile !== undefined) writeResult(resultFile, options, rows);
  }
  clients.close();
  return rows.every(({ problems }) => problems.length === 0);
}

type Run = {
  cluster: Cluster;
  clients: Clients;
  fault: Fault;
  rounds: number;
  slack: number;
  seed: number;
  report(what: string): void;
};

async function runFault({ cluster, clients, fault, rounds, slack, seed, report }: Run): Promise<Row> {
  const begun = performance.now();
  const [acknowledged, unknown, failures] = [clients.written.length, clients.scripts.unknown, clients.failures.length];
  const backs: number[] = [];
  const problems: string[] = [];
  clients.patience = fault.patience;
  for (let first = 0; first < rounds; first += roundsOfHistory) {
    await clients.begin();
    for (let round = first; round < Math.min(rounds, first + roundsOfHistory); round += 1) {
      const random: Random = createRandom(seed, round);
      const roundBegun = performance.now();
      const { since, what, problems: found = [] } = await fault.act({ cluster, clients, random, round });
      const backMs = await waitUntilBack(clients, since);
      backs.push(backMs);
      const times = `back after ${inSeconds(backMs)}, events up to ${inSeconds(latestSince(clients, roundBegun))} late`;
      report(`  ${fault.name} ${round + 1}/${rounds} (${what}): ${times}`);
      if (backMs > slack * fault.backWithinMs) found.push(`it took ${backMs.toFixed(0)} ms`);
      for (const node of cluster.nodes) {
        if (node.part.child.exitCode === null && node.part.child.signalCode === null) continue;
        found.push(`${node.name} has ended: ${cluster.lastWords(node.name)}`);
        await cluster.startNode(node);
      }
      problems.push(...found.map((problem) => `round ${round + 1} (${what}): ${problem}`));
    }
    problems.push(...checkHistory(await clients.end()));
  }
  problems.push(...clients.failures.slice(failures));

  const probes = clients.scripts.probes.filter((probe) => probe.begun >= begun);
  const answers: Record<string, number> = {};
  for (const { status } of probes) answers[status] = (answers[status] ?? 0) + 1;
  const unwelcome = probes.filter(({ status, isRetryable }) => status !== 200 && !isRetryable);
  if (unwelcome.length > 0) {
    const kinds = new Set(unwelcome.map(({ status, error }) => error ?? status));
    problems.push(`${unwelcome.length} answers were neither 200 nor 503 with Retry-After: ${[...kinds].join(', ')}`);
  }
  const unknownWrites = clients.scripts.unknown - unknown;
  if (fault.isSilent && (unknownWrites > 0 || probes.some(({ status }) => status !== 200)))
    problems.push(`${unknownWrites} writes and ${probes.filter(({ status }) => status !== 200).length} reads failed`);
  const eventsLateMsMax = latestSince(clients, begun);
  if (eventsLateMsMax > slack * (fault.eventsWithinMs ?? Infinity))
    problems.push(`an event came ${eventsLateMsMax} ms late`);
  const written = clients.written.slice(acknowledged);
  const attemptsMax = Math.max(0, ...written.map(({ attempts }) => attempts));
  if (attemptsMax > (fault.attemptsMax ?? Infinity)) problems.push(`a write took ${attemptsMax} attempts`);
  const sorted = backs.toSorted((a, b) => a - b);
  return {
    fault: fault.title,
    rounds,
    backMs: {
      median: Math.round(sorted[Math.floor(sorted.length / 2)]!),
      max: Math.round(sorted.at(-1)!),
      limit: fault.backWithinMs,
    },
    acknowledged: written.length,
    attemptsMax,
    answers,
    unknownWrites,
    eventsLateMsMax,
    problems,
  };
}

const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const latestSince = ({ lateness }: Clients, since: number): number =>
  lateness.reduce((latest, { at, ms }) => (at >= since ? Math.max(latest, ms) : latest), 0);

/** Waits for writes that began after the fault, and returns how long none was acknowledged or callers were refused. */
async function waitUntilBack(clients: Clients, since: number): Promise<number> {
  const now = performance.now();
  const isBack = async () =>
    clients.written.filter(({ begun }) => begun > now).length > 10 && clients.scripts.probes.at(-1)?.status === 200;
  await until('writes that go on', isBack);
  const times = [since, ...clients.written.map(({ ended }) => ended).filter((ended) => ended > since)];
  const gapMs = Math.max(...times.slice(1).map((time, index) => time - times[index]!));
  const lastRefused = clients.scripts.probes.findLast(({ begun, status }) => begun > since && status !== 200);
  return Math.max(gapMs, lastRefused ? lastRefused.ended - since : 0);
}

function describe({
  fault,
  rounds,
  backMs,
  acknowledged,
  attemptsMax,
  answers,
  unknownWrites,
  eventsLateMsMax,
  problems,
}: Row): string {
  return [
    `${fault}, ${rounds} times: ${problems.length === 0 ? 'held' : 'DID NOT HOLD'}`,
    `back after ${inSeconds(backMs.median)} (median), ${inSeconds(backMs.max)} (longest)`,
    `${acknowledged} writes acknowledged with at most ${attemptsMax} attempts`,
    `one attempt alone: ${JSON.stringify(answers)}, ${unknownWrites} writes unknown`,
    `events at most ${inSeconds(eventsLateMsMax)} late`,
  ].join('; ');
}

function writeResult(file: string, { seed, clients }: CampaignOptions, rows: Row[]): void {
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version };
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ');
  writeFileSync(file, `${JSON.stringify({ machine: { ...machine, date }, seed, clients, rows }, undefined, 2)}\n`);
}
