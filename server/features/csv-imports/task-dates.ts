import { day } from '../../kernel/wire/moments.ts';
import { CellProblem, quote } from './cell-problem.ts';
import type { Reading } from './drafts.ts';
import { parseTimestamp } from './local-time.ts';
import type { RowReader } from './row-reader.ts';

/** The day on which a task is due, in the stated time zone; null where the row says none. */
export function readDueDate(row: RowReader<'dueDate'>, { dates, zone }: Reading): string | null {
  if (row.cell('dueDate') === '') return null;
  const read = (text: string) => {
    const moment = parseTimestamp(text);
    if (!moment) return dates.readDayTime(text).day;
    const dueDate = zone.dayOf(moment);
    if (!day.safeParse(dueDate).success)
      throw new CellProblem(`is no day of the years 1 to 9999: ${quote(text)}`, 'out_of_range');
    return dueDate;
  };
  return row.parse('dueDate', read) ?? null;
}

/** When a task was done, by the first of these fields that is there; now where the row does not say. */
export function readCompletion<Field extends string>(
  row: RowReader<Field>,
  fields: readonly Field[],
  { dates, zone, now }: Reading,
): Date | null {
  const field = fields.find((one) => row.cell(one) !== '');
  if (field === undefined) return now;
  const read = (text: string) => parseTimestamp(text) ?? new Date(zone.momentsAt(dates.readDayTime(text))[0] ?? now);
  const moment = row.parse(field, read);
  return moment && moment < now ? moment : now;
}
