import type { Cell } from '../../kernel/wire/csv.ts';
import { digitsOf, inUnits, sumMoney, type Money } from '../../kernel/wire/money.ts';
import type { SheetColumn } from '../../kernel/wire/xlsx.ts';
import { hoursOf } from '../projects/hours.ts';
import { rowSchemas, type Grouping, type Row } from './schemas.ts';

/** What the rows of a timesheet come to. */
export class Totals {
  seconds = 0;
  amounts: Money[] = [];

  add(rows: readonly Row[]): void {
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

/** The columns of a file: the fields of a row, and the amount in each currency, in its whole units. */
export function columnsOf(groupBy: Grouping, currencies: readonly string[]) {
  const fields = Object.keys(rowSchemas[groupBy].shape).filter((field) => field !== 'amounts');
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
    cellsOf: (row: Row): Cell[] => [
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
