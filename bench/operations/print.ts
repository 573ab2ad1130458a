import type { GrowthResult } from './growth.ts';
import type { HotSpotRow } from './hot-spots.ts';
import { operations } from './operations.ts';
import type { Result } from './result.ts';
import { sides } from './sides.ts';
import type { StartUp } from './start-up.ts';

/* The figures as tables for a terminal. */

const ms = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
const count = (value: number): string => (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en'));
const orNothing = (value: number, unit = ''): string => (Number.isNaN(value) ? '' : `${count(value)}${unit}`);

function printColumns(rows: string[][]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, n) => (n < 2 ? cell.padEnd(widths[n]!) : cell.padStart(widths[n]!)))
        .join('  ')
        .trimEnd(),
    );
}

/** Where a side should be of the barest server. */
const wantedOfBarest: Record<string, number> = { 'list-comments': 1, 'create-log': 0.3 };

function printOfBarest(rows: Result['rows']): void {
  for (const bare of rows.filter(({ side }) => side === 'bare')) {
    const { operation } = bare;
    const others = rows.filter((row) => row.operation === operation && (row.side === 'rest' || row.side === 'trpc'));
    const ratios = others.map((row) => `${sides[row.side].title} ${(row.perSecond / bare.perSecond).toFixed(2)}`);
    console.log(
      `${operations[operation]!.title}, of the barest server: ${ratios.join(', ')} (wanted ${wantedOfBarest[operation]})`,
    );
  }
}

export function printTable({ rows, generator, memoryMb, pgbench }: Result): void {
  const titles = ['operation', 'side', 'calls/s', 'of floor', 'p50 ms', 'p99 ms', 'server µs/call', 'generator'];
  const half = rows.some((row) => row.half);
  const printed = [half ? [...titles, 'at half: p50', 'p99'] : titles];
  for (const operation of new Set(rows.map((row) => row.operation))) {
    for (const row of rows.filter((one) => one.operation === operation)) {
      const first = row.side === 'floor' ? operations[operation]!.title : '';
      const figures = [count(row.perSecond), row.ratio.toFixed(2), ms(row.p50), ms(row.p99), orNothing(row.cpuMicros)];
      const share = `${Math.round(row.generatorShare * 100)} %`;
      const atHalf = half ? [row.half ? ms(row.half.p50) : '', row.half ? ms(row.half.p99) : ''] : [];
      printed.push([first, sides[row.side].title, ...figures, share, ...atHalf]);
    }
    const alone = typeof pgbench === 'object' ? pgbench[operation] : undefined;
    const floor = rows.find((row) => row.operation === operation && row.side === 'floor')!;
    const blank = Array.from({ length: printed[0]!.length - 4 }, () => '');
    if (alone !== undefined)
      printed.push(['', 'database alone', count(alone), (alone / floor.perSecond).toFixed(2), ...blank]);
  }
  console.log();
  printColumns(printed);
  console.log();
  printOfBarest(rows);
  if (typeof pgbench === 'string') console.log(`database alone: not measured, ${pgbench}`);
  if (memoryMb) {
    const held = Object.entries(memoryMb).map(([name, mb]) => `${sides[name as keyof typeof sides].title} ${mb} MB`);
    console.log(`resident after the work: ${held.join(', ')}`);
  }
  if (generator) {
    const { requestsPerSecond, generatorShare, headroom } = generator;
    console.log(
      `load generator: ${Math.round(generatorShare * 100)} % of a core at the floor's ${count(requestsPerSecond)} empty answers a second, ` +
        `so it could do ${headroom.toFixed(1)} times that`,
    );
  }
}

export function printHotSpots(rows: HotSpotRow[]): void {
  console.log();
  printColumns([
    ['in one place, in many', '', 'one/s', 'many/s', 'ratio'],
    ...rows.map(({ title, hot, spread, ratio }) => [title, '', count(hot), count(spread), ratio.toFixed(2)]),
  ]);
}

export function printGrowth({ from, to, rows }: GrowthResult): void {
  console.log();
  const titles = [from, to].map((size) => `${size.toLocaleString('en')} rows`);
  printColumns([
    ['median, one request at a time', '', ...titles, 'growth'],
    ...rows.map(({ title, small, large, ratio }) => [
      title,
      '',
      `${ms(small)} ms`,
      `${ms(large)} ms`,
      ratio.toFixed(2),
    ]),
  ]);
}

export function printStartUp(starts: StartUp[]): void {
  console.log();
  for (const { database, readyMs, residentMb, readyMsMax, residentMbMax } of starts) {
    const isMet = readyMs < readyMsMax && residentMb < residentMbMax;
    const bounds = `under ${readyMsMax / 1000} s and ${residentMbMax} MB`;
    console.log(
      `start-up, ${database}: ready after ${(readyMs / 1000).toFixed(2)} s, ${Math.round(residentMb)} MB resident ` +
        `(${isMet ? `as wanted, ${bounds}` : `WANTED ${bounds}`})`,
    );
  }
}
