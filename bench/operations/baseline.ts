import { readFileSync, writeFileSync } from 'node:fs';
import { resultsFolder, type Result } from './result.ts';
import type { Row } from './table.ts';

const file = `${resultsFolder}baseline.json`;
/** A ratio may fall to this part of its baseline: machines differ, but lost performance shows. */
const partMin = 0.5;
/**
 * A ratio is judged up to here. Where the service does a small part of what the floor does (a stored total instead of a count), the
 * floor waits for PostgreSQL and the service for its own core, so beside other work the ratio falls by itself, from 13 to 3.
 */
const judgedUpTo = 4;

type Ratios = Record<string, number>;
type Measured = Pick<Row, 'operation' | 'side' | 'ratio'>;
const keyOf = ({ operation, side }: Measured): string => `${operation} ${side}`;

export function saveBaseline({ machine, pinned, rows }: Result): void {
  const { cpu, cores, node, postgres, date } = machine;
  const measured = rows.filter(({ side }) => side !== 'floor');
  const ratios: Ratios = Object.fromEntries(measured.map((row) => [keyOf(row), Number(row.ratio.toFixed(2))]));
  writeFileSync(
    file,
    `${JSON.stringify({ machine: { cpu, cores, node, postgres, date }, pinned, ratios }, null, 2)}\n`,
  );
}

/**
 * The number of further, longer measurements of a fallen ratio before it counts, because a busy machine loses rounds.
 */
const repeats = 2;

/** The ratios of the baseline, by operation and side. */
export const readBaseline = (): Ratios => (JSON.parse(readFileSync(file, 'utf8')) as { ratios: Ratios }).ratios;

/** Whether no ratio has fallen to less than half of its baseline; `again` measures an operation once more. */
export async function compareWithBaseline(
  ratios: Ratios,
  rows: readonly Measured[],
  again: (operation: string) => Promise<readonly Measured[]>,
): Promise<boolean> {
  const fallen = (some: readonly Measured[]): Measured[] =>
    some.filter((row) => row.ratio < Math.min(ratios[keyOf(row)] ?? 0, judgedUpTo) * partMin);
  let lost = fallen(rows);
  for (let repeat = 0; repeat < repeats && lost.length > 0; repeat += 1) {
    const asked = new Set(lost.map(keyOf));
    const operations = new Set(lost.map((row) => row.operation));
    lost = [];
    for (const operation of operations) {
      console.log(`${operation} seems to have fallen: measuring it again`);
      lost.push(...fallen(await again(operation)).filter((row) => asked.has(keyOf(row))));
    }
  }
  for (const row of lost) {
    const before = ratios[keyOf(row)]!;
    console.log(
      `FALLEN: ${row.operation} over ${row.side} is at ${row.ratio.toFixed(2)} of the floor, and was at ${before}. ` +
        'Find what made it slower; where that is meant, run `npm run bench -- --short --save-baseline` and say why in the commit.',
    );
  }
  const compared = rows.filter((row) => keyOf(row) in ratios).length;
  if (lost.length === 0) console.log(`bench: none of ${compared} ratios has fallen to less than half of the baseline`);
  return lost.length === 0;
}
