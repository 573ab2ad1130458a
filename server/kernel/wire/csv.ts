/*
 * CSV by RFC 4180, for spreadsheets and programs: UTF-8 with a byte order mark, without which Excel shows wrong
 * accents, and no cell that a spreadsheet would run as a formula.
 */

const byteOrderMark = '\uFEFF';

/** A cell that a spreadsheet takes for a formula; full-width signs count too. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

export type Cell = string | number | null;

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  // The apostrophe turns it into text.
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The file in pieces: its columns, its rows as they come, and perhaps a last line after all rows. */
export async function* csvPieces(
  columns: readonly string[],
  batches: AsyncIterable<readonly Cell[][]>,
  lastLine?: () => readonly Cell[],
): AsyncGenerator<string> {
  // Sent with the first rows, so its arrival means that rows could be read.
  let head = byteOrderMark + csvLine(columns);
  for await (const rows of batches) {
    if (rows.length === 0) continue;
    yield head + rows.map(csvLine).join('');
    head = '';
  }
  const end = head + (lastLine ? csvLine(lastLine()) : '');
  if (end !== '') yield end;
}
