import { parseArgs } from 'node:util';
import { operations } from './operations.ts';
import { sides, type SideName } from './sides.ts';

export const parts = ['table', 'hot-spots', 'growth', 'start-up'] as const;
export type Part = (typeof parts)[number];

export type Options = {
  operations: string[];
  /** In the order in which they take turns; the floor among them, for all ratios are to it. */
  sides: SideName[];
  pgbench: boolean;
  parts: Part[];
  seconds: number;
  rounds: number;
  employees: number;
  growthTo: number;
  short: boolean;
  json: boolean;
  check: boolean;
  saveBaseline: boolean;
};

export const usage = `npm run bench [-- options]
  --only A,B        operations: ${Object.keys(operations).join(', ')}
  --sides A,B       sides: ${Object.keys(sides).join(', ')}, pgbench; the floor is always among them
  --parts A,B       ${parts.join(', ')}; all of them by default
  --seconds N       how long each side is measured in each round (2)
  --rounds N        how often the sides take turns (5)
  --growth-to N     the larger size of the growth rows (1000000)
  --short           little data, short rounds, the table only: what CI runs
  --check           fail where a ratio is less than half of bench/results/baseline.json
  --save-baseline   write the ratios of this run to bench/results/baseline.json
  --json            print the result as JSON as well`;

function listOf<Name extends string>(given: string | undefined, known: readonly Name[], what: string): Name[] {
  if (given === undefined) return [...known];
  const names = given.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(known as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`${unknown} is no ${what}: take ${known.join(', ')}`);
  return names as Name[];
}

function numberOf(given: string | undefined, fallback: number, name: string): number {
  const number = given === undefined ? fallback : Number(given);
  if (!(number > 0)) throw new Error(`--${name} takes a number above 0`);
  return number;
}

export function readOptions(given: string[]): Options {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: given,
    options: {
      only: text,
      sides: text,
      parts: text,
      seconds: text,
      rounds: text,
      'growth-to': text,
      short: flag,
      json: flag,
      check: flag,
      'save-baseline': flag,
      help: flag,
    },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  const { short, json, check } = values;
  const everySide = Object.keys(sides) as SideName[];
  // What others cost is no matter of CI's.
  const usual = short ? (['floor', 'rest', 'trpc', 'batch'] as const) : [...everySide, 'pgbench' as const];
  const chosen: readonly string[] =
    values.sides === undefined ? usual : listOf(values.sides, [...everySide, 'pgbench' as const], 'side');
  return {
    operations: listOf(values.only, Object.keys(operations), 'operation'),
    sides: everySide.filter((name) => name === 'floor' || chosen.includes(name)),
    pgbench: chosen.includes('pgbench'),
    parts: short && values.parts === undefined ? ['table'] : listOf(values.parts, parts, 'part'),
    seconds: numberOf(values.seconds, short ? 0.3 : 2, 'seconds'),
    rounds: numberOf(values.rounds, short ? 2 : 5, 'rounds'),
    employees: short ? 20_000 : 100_000,
    growthTo: numberOf(values['growth-to'], 1_000_000, 'growth-to'),
    short,
    json,
    check,
    saveBaseline: values['save-baseline'],
  };
}
