import { loadavg } from 'node:os';
import { generateKeys } from '../../server/platform/signing-keys.ts';
import { endAll, endedAfter } from '../support/at-end.ts';
import { openCluster } from '../support/cluster.ts';
import { makeBed } from '../support/database.ts';
import { startGenerator } from '../support/generator.ts';
import { measureGrowth } from './growth.ts';
import { measureHotSpots } from './hot-spots.ts';
import { choosePinning, describeMachine, machineInWords } from '../support/machine.ts';
import { readOptions, usage, type Options } from './options.ts';
import { measureDatabase } from './pgbench.ts';
import { compareWithBaseline, readBaseline, saveBaseline } from './baseline.ts';
import { printGrowth, printHotSpots, printStartUp, printTable } from './print.ts';
import { writeResult, type Result } from './result.ts';
import { startSides } from './sides.ts';
import { measureStartUp } from './start-up.ts';
import { checkGenerator, measure, memoryOf } from './table.ts';

/*
 * The costs of this service, compared with other implementations: see README.md. One command starts everything it
 * needs, seeds a new database, measures, and removes everything.
 */

const report = (what: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1B[K${what}`);
  else process.stderr.write(`${what}\n`);
};

function read(): Options {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
    process.exit(2);
  }
}

const options = read();
const pinning = choosePinning();
const cluster = await openCluster();

async function measureTable(result: Result): Promise<boolean> {
  const sizes = { employees: options.employees, projects: 200, tasks: 2_000, comments: 25_000, notifications: 20_000 };
  const bed = await makeBed(cluster, {
    name: 'table',
    // Enough rows for realistic statistics of the planner.
    sizes: { ...sizes, logs: 100_000 },
    waitsForDisk: !options.short,
    report,
  });
  const generator = startGenerator(pinning);
  const keys = await generateKeys();
  const sides = await startSides(options.sides, { databaseUrl: bed.url, keys, world: bed.world, pinning });
  const bench = { bed, sides, generator, pinning, options, report };

  result.generator = await checkGenerator(bench);
  for (const operation of options.operations) result.rows.push(...(await measure(bench, operation)));
  result.memoryMb = memoryOf(sides);
  if (options.pgbench) result.pgbench = await measureDatabase(bed, options, pinning, report);
  report('');
  printTable(result);
  if (!options.check) return true;
  const longer = { ...bench, options: { ...options, seconds: options.seconds * 2, rounds: 5 } };
  return compareWithBaseline(readBaseline(), result.rows, (operation) => measure(longer, operation));
}

let passed = true;
try {
  const machine = describeMachine(cluster.version);
  console.log(machineInWords(machine));
  console.log(`pinned: ${pinning?.says ?? 'nothing'}; load average before: ${machine.loadBefore}`);
  const result: Result = { machine, pinned: pinning?.says ?? 'nothing', rows: [], options };
  if (options.parts.includes('table')) passed = await endedAfter(() => measureTable(result));
  if (options.parts.includes('hot-spots')) {
    result.hotSpots = await endedAfter(() => measureHotSpots(cluster, { options, pinning, report }));
    printHotSpots(result.hotSpots);
  }
  if (options.parts.includes('growth')) {
    result.growth = await endedAfter(() => measureGrowth(cluster, { options, pinning, report }));
    printGrowth(result.growth);
  }
  if (options.parts.includes('start-up')) {
    result.startUp = await endedAfter(() => measureStartUp(cluster, report));
    printStartUp(result.startUp);
  }
  result.machine.loadAfter = Number(loadavg()[0]!.toFixed(1));
  if (options.saveBaseline) saveBaseline(result);
  if (options.json) console.log(JSON.stringify(result, null, 2));
  if (!options.short) console.log(`\nwritten to ${writeResult(result)}`);
} catch (error) {
  passed = false;
  report('');
  console.error(error instanceof Error ? error.message : error);
} finally {
  await endAll();
}
process.exit(passed ? 0 : 1);
