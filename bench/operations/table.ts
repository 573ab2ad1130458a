import type { Bed } from '../support/database.ts';
import type { Generator } from '../support/generator.ts';
import type { Caller, Load } from '../load/job.ts';
import { cpuSecondsOf, residentMb, type Pinning } from '../support/machine.ts';
import { median } from '../support/timing.ts';
import { operations } from './operations.ts';
import type { Options } from './options.ts';
import { callsPerRequest, toMessage } from './requests.ts';
import { serves, sides, type SideName, type Sides } from './sides.ts';

/** One side at one operation. Times are milliseconds. */
export type Row = {
  operation: string;
  side: SideName;
  /** Calls a second: the median of the rounds. */
  perSecond: number;
  p50: number;
  p99: number;
  /** Of the calls a second of the floor. */
  ratio: number;
  /** Microseconds of the server process's own time for each call; NaN where the system does not tell. */
  cpuMicros: number;
  generatorShare: number;
  /** How long answers take when as many requests arrive as half of the most that it can serve. */
  half?: { requestsPerSecond: number; p50: number; p99: number };
};

type Bench = {
  bed: Bed;
  sides: Sides;
  generator: Generator;
  pinning: Pinning;
  options: Options;
  report: (what: string) => void;
};

/** A service that has run for days has its code compiled, so this many calls of each side are left out of all figures. */
const warmUpCalls = 3_000;
const warmUpRoundsMax = { full: 8, short: 2 };
/** The usual number of concurrent calls. */
export const callsAtOnce = 32;
/** With a larger share of errors the operation is not measured. A busy machine may time out now and then. */
const failureShareMax = 0.02;

/** Calls each side once, as its callers do, and compares its answer with the floor's. */
async function verify(
  { bed, sides: { running, callersFor } }: Bench,
  operation: string,
  names: SideName[],
): Promise<void> {
  const { [operation]: asked } = operations;
  let expected: string | undefined;
  for (const name of names) {
    const { method, path, body } = toMessage(asked!, { world: bed.world, format: sides[name].format });
    const [first] = await callersFor(name);
    const headers = {
      ...first!.headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const response = await fetch(`${running.get(name)!.url}${path}`, { method, headers, body: body ?? null });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${operation} of ${name}: ${response.status} ${text.slice(0, 500)}`);
    const answers = answersOf(JSON.parse(text), name).map((answer) => asked!.holds(answer as never));
    expected ??= answers[0]!;
    const other = answers.find((held) => held !== expected);
    if (other !== undefined) throw new Error(`${operation}: the floor answers ${expected}, ${name} answers ${other}`);
  }
}

type Result = { result: { data: unknown } };

function answersOf(answer: unknown, name: SideName): unknown[] {
  if (sides[name].format === 'rest') return [answer];
  return (Array.isArray(answer) ? (answer as Result[]) : [answer as Result]).map(({ result }) => result.data);
}

/** The sides take turns, round by round, so that other work of the machine affects all of them alike. */
export async function measure(bench: Bench, operation: string): Promise<Row[]> {
  const { bed, sides: running, generator, pinning, options, report } = bench;
  const names = options.sides.filter((name) => serves(name, operation));
  await verify(bench, operation, names);
  // A pair of tokens is seen for the first time once in a quarter of an hour: in the warm-up here.
  const callersOf = new Map<SideName, Caller[]>();
  for (const name of names) callersOf.set(name, await running.callersFor(name));
  const load = async (name: SideName, seconds: number, rate?: number): Promise<Load & { cpuMicros: number }> => {
    const { url, pid } = running.running.get(name)!;
    const { format } = sides[name];
    const connections = Math.ceil((operations[operation]!.callsAtOnce ?? callsAtOnce) / callsPerRequest(format));
    const callers = callersOf.get(name)!;
    const job = { url, operation, format, callers, world: bed.world, connections, seconds };
    const before = cpuSecondsOf(pid);
    const done = await generator.run(rate === undefined ? job : { ...job, rate });
    if (done.failureShare > failureShareMax)
      throw new Error(`${operation} of ${name}: ${(done.failureShare * 100).toFixed(1)} % of the answers were no 200`);
    return { ...done, cpuMicros: ((cpuSecondsOf(pid) - before) * 1e6) / (done.callsPerSecond * seconds) };
  };

  report(`${operations[operation]!.title}: warming up`);
  for (const name of names) {
    let calls = 0;
    for (let round = 0; round < warmUpRoundsMax[options.short ? 'short' : 'full'] && calls < warmUpCalls; round += 1)
      calls += (await load(name, options.seconds / 2)).requests;
  }
  if (pinning) await bed.pinTo(pinning.database);
  const rounds = new Map(names.map((name) => [name, [] as (Load & { cpuMicros: number })[]]));
  for (let round = 1; round <= options.rounds; round += 1) {
    report(`${operations[operation]!.title}: round ${round} of ${options.rounds}`);
    for (const name of names) rounds.get(name)!.push(await load(name, options.seconds));
    if (pinning) await bed.pinTo(pinning.database);
  }

  const of = (name: SideName, figure: keyof Load | 'cpuMicros') => median(rounds.get(name)!.map((one) => one[figure]));
  const rows: Row[] = [];
  for (const name of names) {
    const row: Row = {
      operation,
      side: name,
      perSecond: of(name, 'callsPerSecond'),
      p50: of(name, 'p50'),
      p99: of(name, 'p99'),
      // Of the same round: two neighbours in time share what else the machine does.
      ratio: median(
        rounds.get(name)!.map((one, round) => one.callsPerSecond / rounds.get('floor')![round]!.callsPerSecond),
      ),
      cpuMicros: of(name, 'cpuMicros'),
      generatorShare: of(name, 'generatorShare'),
    };
    if (!options.short) {
      const rate = of(name, 'requestsPerSecond') / 2;
      const { requestsPerSecond, p50, p99 } = await load(name, options.seconds, rate);
      row.half = { requestsPerSecond, p50, p99 };
    }
    rows.push(row);
  }
  // Jobs that no side runs would slow down the side that writes last.
  if (operations[operation]!.kind === 'mutation') await bed.client.query('delete from jobs');
  return rows;
}

/** Whether the generator could do more than any side: its own share of a core, while the floor answers as little as it can. */
export async function checkGenerator({ bed, sides: { running }, generator, options }: Bench) {
  const { url } = running.get('floor')!;
  const job = {
    url,
    operation: 'ping',
    format: 'rest',
    callers: [{ employeeId: bed.world.employeeId, headers: {} }],
    world: bed.world,
    connections: callsAtOnce,
  } as const;
  await generator.run({ ...job, seconds: options.seconds / 4 });
  const { requestsPerSecond, generatorShare } = await generator.run({ ...job, seconds: options.seconds });
  return { requestsPerSecond, generatorShare, headroom: 1 / generatorShare };
}

/** Megabytes that each program holds after its work. */
export function memoryOf({ running }: Sides): Partial<Record<SideName, number>> {
  return Object.fromEntries([...running].map(([name, { pid }]) => [name, Math.round(residentMb(pid))]));
}
