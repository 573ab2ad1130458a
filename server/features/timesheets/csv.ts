/*
 * CSV as RFC 4180 has it, for spreadsheets as well as programs: UTF-8 with a byte order mark, without which Excel reads
 * accents as rubbish, and no cell that a spreadsheet would run as a formula.
 */

const byteOrderMark = '\uFEFF';

/** A spreadsheet takes what begins like this for a formula; full-width signs count there as well. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

export type Cell = string | number | null;

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  // The apostrophe makes it text.
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text of a file in pieces: its columns, its rows as they come, and a last line made when they have all come. */
export async function* csvPieces(
  columns: readonly string[],
  batches: AsyncIterable<readonly Cell[][]>,
  lastLine: () => readonly Cell[],
): AsyncGenerator<string> {
  // Sent with the first rows, so its arrival means that rows could be read.
  let head = byteOrderMark + csvLine(columns);
  for await (const rows of batches) {
    if (rows.length === 0) continue;
    yield head + rows.map(csvLine).join('');
    head = '';
  }
  yield head + csvLine(lastLine());
}
