import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chartOf } from './chart.ts';
import type { GrowthResult } from './growth.ts';
import type { HotSpotRow } from './hot-spots.ts';
import type { Machine } from '../support/machine.ts';
import type { Options } from './options.ts';
import type { DatabaseResult } from './pgbench.ts';
import type { SideName } from './sides.ts';
import type { StartUp } from './start-up.ts';
import type { Row } from './table.ts';

export type Result = {
  machine: Machine & { loadAfter?: number };
  pinned: string;
  options: Options;
  generator?: { requestsPerSecond: number; generatorShare: number; headroom: number };
  rows: Row[];
  memoryMb?: Partial<Record<SideName, number>>;
  pgbench?: DatabaseResult;
  hotSpots?: HotSpotRow[];
  growth?: GrowthResult;
  startUp?: StartUp[];
};

export const resultsFolder = fileURLToPath(new URL('../results/', import.meta.url));

/** Figures for reading: more digits than noise leaves would only look exact. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;

/** Writes the figures and their chart, and answers where. */
export function writeResult(result: Result): string {
  mkdirSync(resultsFolder, { recursive: true });
  const name = `${result.machine.date.slice(0, 10)}-${result.machine.cores}-cores`;
  writeFileSync(`${resultsFolder}${name}.json`, `${JSON.stringify(result, rounded, 2)}\n`);
  if (result.rows.length > 0) writeFileSync(`${resultsFolder}${name}.svg`, chartOf(result));
  return `bench/results/${name}.json${result.rows.length > 0 ? ' and .svg' : ''}`;
}
