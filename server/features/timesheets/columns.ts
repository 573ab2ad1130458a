import type { Cell } from '../../kernel/wire/csv.ts';
import { digitsOf, inUnits, sumMoney, type Money } from '../../kernel/wire/money.ts';
import type { SheetColumn } from '../../kernel/wire/xlsx.ts';
import { hoursOf } from '../projects/hours.ts';
import { rowSchemas, type Grouping } from './schemas.ts';

/** A row of any file: its time and money, beside what it is about. */
export type Line = { seconds: number; amounts?: Money[] };

/** What the rows of a timesheet come to. */
export class Totals {
  seconds = 0;
  amounts: Money[] = [];

  add(rows: readonly Line[]): void {
    for (const { seconds } of rows) this.seconds += seconds;
    this.amounts = sumMoney([...this.amounts, ...rows.flatMap((row) => row.amounts ?? [])]);
  }
}

/** The fields whose cells are no whole numbers. */
const formats: Record<string, string> = {
  name: '@',
  project: '@',
  task: '@',
  week: '@',
  date: 'yyyy-mm-dd',
  monday: 'yyyy-mm-dd',
  hours: '0.00',
};

/** The fields of a file of rows. */
export const fieldsOf = (groupBy: Grouping): string[] =>
  Object.keys(rowSchemas[groupBy].shape).filter((field) => field !== 'amounts');

/** For people: identifiers mean nothing to them, time is in hours, and a page has one person. */
const unprinted = new Set(['userId', 'projectId', 'taskId', 'monday', 'seconds']);

/** The fields of a page for one person: rows of projects and tasks are by day, so that each day is signed for. */
export function printedFieldsOf(groupBy: Grouping): string[] {
  const printed = fieldsOf(groupBy).filter((field) => !unprinted.has(field));
  if (groupBy === 'project' || groupBy === 'task') return ['date', ...printed];
  return groupBy === 'employee' ? printed : printed.filter((field) => field !== 'name');
}

/** The columns of a file: fields of its rows, and the amount in each currency, in its whole units. */
export function columnsOf(fields: readonly string[], currencies: readonly string[]) {
  const money = (amounts: readonly Money[] = []): (number | null)[] => {
    const missing = amounts.find(({ currency }) => !currencies.includes(currency));
    // The first time in a currency was logged while the file was made: it is cut off, and the next one has the column.
    if (missing) throw new Error(`the file has no column for ${missing.currency}`);
    return currencies.map((code) => {
      const amount = amounts.find(({ currency }) => currency === code);
      return amount ? inUnits(amount) : null;
    });
  };
  const columns: SheetColumn[] = [
    ...fields.map((name) => {
      const format = formats[name] ?? '0';
      return { name, format, isDate: format === 'yyyy-mm-dd' };
    }),
    ...currencies.map((code) => ({
      name: `amount ${code}`,
      format: (0).toFixed(digitsOf(code)),
      isDate: false,
    })),
  ];
  return {
    columns,
    cellsOf: (row: Line): Cell[] => [
      ...fields.map((field) => (row as unknown as Record<string, Cell>)[field]!),
      ...money(row.amounts),
    ],
    /** The last line, which begins with `Total`. */
    totalCells: ({ seconds, amounts }: Totals): Cell[] => {
      const totals: Record<string, Cell> = { [fields[0]!]: 'Total', seconds, hours: hoursOf(seconds) };
      return [...fields.map((field) => totals[field] ?? null), ...money(amounts)];
    },
  };
}
