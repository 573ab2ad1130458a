import { generateKeys } from '../../server/platform/signing-keys.ts';
import type { Cluster } from '../support/cluster.ts';
import { makeBed, type Bed } from '../support/database.ts';
import { startGenerator } from '../support/generator.ts';
import type { Pinning } from '../support/machine.ts';
import { median } from '../support/timing.ts';
import { furtherOperations, operations } from './operations.ts';
import type { Options } from './options.ts';
import { startSides, type Sides } from './sides.ts';

/** What one operation takes in a small and in a large company, in milliseconds, one request at a time. */
export type Growth = { title: string; small: number; large: number; ratio: number };
export type GrowthResult = { from: number; to: number; rows: Growth[] };

const from = 10_000;
/** Timesheets are left out: they are about a period, and as long as that. So are lists of all employees. */
const measured = [
  'list-comments',
  'notifications',
  'inbox',
  'unread-page',
  'notices',
  'unread-count',
  'logs-of-task',
  'tasks',
  'todo',
  'owned-tasks',
  'projects',
  'completed-projects',
  'search-one',
];

/** Lists and counts of the service in a company with 10 thousand of each thing and in one with a million, in turns. */
export async function measureGrowth(
  cluster: Cluster,
  { options, pinning, report }: { options: Options; pinning: Pinning; report: (what: string) => void },
): Promise<GrowthResult> {
  const to = options.growthTo;
  const keys = await generateKeys();
  const generator = startGenerator(pinning);
  const beds: { bed: Bed; sides: Sides }[] = [];
  for (const size of [from, to]) {
    report(`a company with ${size.toLocaleString('en')} of each thing`);
    const sizes = { employees: size, projects: size, tasks: size, comments: size, notifications: size, logs: size };
    const bed = await makeBed(cluster, { name: `growth_${size}`, sizes, waitsForDisk: true, report });
    const { url: databaseUrl, world } = bed;
    beds.push({ bed, sides: await startSides(['rest'], { databaseUrl, keys, world, pinning }) });
  }
  const p50 = async (operation: string, { bed, sides }: { bed: Bed; sides: Sides }, seconds: number) => {
    // Who has as much as the company.
    const callers = (await sides.callersFor('rest')).slice(0, 1);
    const { url } = sides.running.get('rest')!;
    const job = { url, operation, format: 'rest', callers, world: bed.world, connections: 1, seconds } as const;
    const { p50, failureShare } = await generator.run(job);
    if (failureShare > 0) throw new Error(`${operation}: not all answers were 200`);
    return p50;
  };
  const rows: Growth[] = [];
  for (const operation of measured) {
    report(`growth: ${operation}`);
    const seconds = Math.min(1, options.seconds);
    for (const one of beds) await p50(operation, one, seconds / 2);
    if (pinning) for (const { bed } of beds) await bed.pinTo(pinning.database);
    const rounds: [number, number][] = [];
    for (let round = 0; round < options.rounds; round += 1)
      rounds.push([await p50(operation, beds[0]!, seconds), await p50(operation, beds[1]!, seconds)]);
    rows.push({
      title: (operations[operation] ?? furtherOperations[operation])!.title.replace('20,000 ', ''),
      small: median(rounds.map(([small]) => small)),
      large: median(rounds.map(([, large]) => large)),
      ratio: median(rounds.map(([small, large]) => large / small)),
    });
  }
  return { from, to, rows };
}
