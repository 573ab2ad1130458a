import { openServer } from '../../db/open.ts';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import type { Caller } from '../load/job.ts';
import type { Cluster } from '../support/cluster.ts';
import { makeBed } from '../support/database.ts';
import { startGenerator } from '../support/generator.ts';
import type { Pinning } from '../support/machine.ts';
import { seedCompanies } from '../support/seed.ts';
import { median } from '../support/timing.ts';
import { hotSpots } from './hot-spot-operations.ts';
import type { Options } from './options.ts';
import { startSides } from './sides.ts';
import { callsAtOnce } from './table.ts';

/** Calls a second in one place, and spread over many: the ratio is the median of the rounds' own. */
export type HotSpotRow = { name: string; title: string; hot: number; spread: number; ratio: number };

/** Writes of 64 people that meet in one row of the database, in turns with the same writes that do not. */
export async function measureHotSpots(
  cluster: Cluster,
  { options, pinning, report }: { options: Options; pinning: Pinning; report: (what: string) => void },
): Promise<HotSpotRow[]> {
  const sizes = { employees: 20_000, projects: 200, tasks: 2_000, comments: 25_000, notifications: 1, logs: 100_000 };
  const bed = await makeBed(cluster, { name: 'hot_spots', sizes, waitsForDisk: true, report });
  const generator = startGenerator(pinning);
  const keys = await generateKeys();
  const { url: databaseUrl, world } = bed;
  const sides = await startSides(['rest'], { databaseUrl, keys, world, pinning });
  const people = await sides.callersFor('rest');
  const inOne = people.map((caller, n) => ({
    ...caller,
    own: {
      tasks: { first: world.tasks.first + n, count: 1 },
      projects: { first: world.projects.first + n, count: 1 },
    },
  }));
  const inMany = await foundCompanies();

  async function foundCompanies(): Promise<Caller[]> {
    const opened = openServer(databaseUrl);
    const founders = await seedCompanies(opened, bed.client, people.length).finally(() => opened.close());
    const callers = await sides.callersFor('rest', founders);
    return callers.map((caller, n) => ({ ...caller, own: founders[n]!.own }));
  }

  const { url } = sides.running.get('rest')!;
  async function load(name: string, place: 'hot' | 'spread', seconds: number): Promise<number> {
    const callers = name === 'companies' ? (place === 'hot' ? inOne : inMany) : people;
    const operation = `${name}/${place}`;
    const job = { url, operation, format: 'rest', callers, world, connections: callsAtOnce, seconds } as const;
    const { callsPerSecond, failureShare } = await generator.run(job);
    if (failureShare > 0)
      throw new Error(`${operation}: ${(failureShare * 100).toFixed(1)} % of the answers were no 200`);
    // Nobody runs them here.
    await bed.client.query('delete from jobs');
    return callsPerSecond;
  }

  const rows: HotSpotRow[] = [];
  for (const [name, { title }] of Object.entries(hotSpots)) {
    report(`hot spots: ${title}`);
    for (const place of ['hot', 'spread'] as const) await load(name, place, options.seconds);
    if (pinning) await bed.pinTo(pinning.database);
    const rounds: { hot: number; spread: number }[] = [];
    for (let round = 0; round < options.rounds; round += 1)
      rounds.push({
        hot: await load(name, 'hot', options.seconds),
        spread: await load(name, 'spread', options.seconds),
      });
    rows.push({
      name,
      title,
      hot: median(rounds.map(({ hot }) => hot)),
      spread: median(rounds.map(({ spread }) => spread)),
      ratio: median(rounds.map(({ hot, spread }) => hot / spread)),
    });
  }
  return rows;
}
