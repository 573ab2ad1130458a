import type { CellValue } from 'hucre/xlsx';
import type { Cell } from './csv.ts';

/*
 * A workbook of one sheet, written while its rows come. Text is a string cell whatever it begins with, so nothing that
 * people wrote is run as a formula.
 */

export type SheetColumn = {
  name: string;
  /** How a spreadsheet shows its numbers, as in `0.00`; `@` is text, which stays text when it is edited. */
  format: string;
  /** Whether its cells are days, as in `2026-03-02`, which become dates of the spreadsheet. */
  isDate: boolean;
};

type Sheet = {
  name: string;
  columns: readonly SheetColumn[];
  batches: AsyncIterable<readonly Cell[][]>;
  /** The last row, known when all others have been read. */
  lastRow: () => readonly Cell[];
};

/** The widths of columns, in characters: a row that is to come cannot widen its column. */
const textWidth = 32;
const numberWidth = 12;

export async function* xlsxPieces({ name, columns, batches, lastRow }: Sheet): AsyncGenerator<Uint8Array> {
  const following = batches[Symbol.asyncIterator]();
  // Few ask for workbooks, and a start takes longer with each package.
  const { writeXlsxStream } = await import('hucre/xlsx');
  // Before the first byte, so that a failure to read any row is answered as an error.
  const first = await following.next();

  async function* rows(): AsyncGenerator<CellValue[]> {
    try {
      for (let next = first; next.done !== true; next = await following.next())
        for (const row of next.value) yield toRow(row, columns);
      yield toRow(lastRow(), columns);
    } finally {
      await following.return?.();
    }
  }

  yield* writeXlsxStream(rows(), {
    name,
    columns: columns.map((column) => ({
      header: column.name,
      numFmt: column.format,
      width: column.format === '@' ? textWidth : numberWidth,
    })),
    freezePane: { rows: 1 },
  });
}

const toRow = (cells: readonly Cell[], columns: readonly SheetColumn[]): CellValue[] =>
  cells.map((cell, index) => (columns[index]!.isDate && cell !== null ? new Date(`${cell}T00:00:00Z`) : cell));
