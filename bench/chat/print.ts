import type { FanOut, Spread } from './fan-out.ts';
import { callsAtOnce } from './options.ts';
import type { Load } from '../load/job.ts';
import type { Machine } from '../support/machine.ts';

export type Figures = {
  operation: string;
  alone: Pick<Load, 'p50' | 'p95' | 'p99'>;
  perSecond: number;
  cpuMicros: number;
};
export type Result = {
  machine: Machine & { loadAfter?: number };
  pinned: string;
  operations: Figures[];
  fanOut?: FanOut;
  residentMb?: number;
};

const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
const cells = (first: string, others: string[]): string =>
  `${first.padEnd(36)}${others.map((other) => other.padStart(12)).join('')}`;

export function print(
  { operations, fanOut, residentMb }: Result,
  listeners: { webSockets: number; eventStreams: number; stalled: number; others: number },
): void {
  console.log(`\n${cells('one call at a time', ['median', 'p95', 'p99', `${callsAtOnce} at once`, 'server time'])}`);
  for (const { operation, alone, perSecond, cpuMicros } of operations) {
    const times = [alone.p50, alone.p95, alone.p99].map(ms);
    console.log(
      cells(operation, [...times, `${Math.round(perSecond)}/s`, Number.isNaN(cpuMicros) ? '' : ms(cpuMicros / 1_000)]),
    );
  }
  if (!fanOut) return;
  console.log(`\n${cells(`from answer to arrival, ${fanOut.writes} writes`, ['median', 'p95', 'p99', 'max'])}`);
  const line = (who: string, spread: Spread | undefined) => {
    if (spread) console.log(cells(who, [spread.p50, spread.p95, spread.p99, spread.max].map(ms)));
  };
  line(`${listeners.webSockets} WebSockets`, fanOut.webSockets);
  line(`${listeners.eventStreams} streams of events`, fanOut.eventStreams);
  line('all of them', fanOut.everybody);
  const { stalled, others } = listeners;
  if (stalled + others > 0)
    console.log(`beside ${stalled} that read nothing and ${others} that listen to something else`);
  console.log(`\nresident in the end: ${residentMb!.toFixed(0)} MB`);
}
