import { setImmediate as tick } from 'node:timers/promises';
import { invalid } from '../../errors/errors.ts';
import type { Drafts, Reading } from './drafts.ts';
import { createIssueReader, jiraColumns } from './jira-issues.ts';
import { readTable, type Columns, type Row } from './read-table.ts';
import { createRowReader, type RowError, type RowReader } from './row-reader.ts';
import { readTimeEntry, timeColumns } from './time-entries.ts';
import { readCard, trelloColumns } from './trello-cards.ts';

const logsMax = 20_000;
/** Rows that are read before other requests have their turn. */
const rowsAtOnce = 200;

/** Reads what a file says. Throws if it is no such file; what is wrong with its rows is in `errors`. */
export function readDrafts(csv: string, reading: Reading): Promise<Drafts> {
  if (reading.source === 'jira') return read(csv, jiraColumns, reading, createIssueReader);
  if (reading.source === 'trello') return read(csv, trelloColumns, reading, () => readCard);
  return read(csv, timeColumns, reading, () => readTimeEntry);
}

type ReadRow<Field extends string> = (row: RowReader<Field>, reading: Reading, drafts: Drafts) => void;

async function read<Field extends string>(
  csv: string,
  columns: Columns<Field>,
  reading: Reading,
  createReader: (rows: readonly Row<Field>[]) => ReadRow<Field>,
): Promise<Drafts> {
  const table = await readTable(csv, columns);
  const readRow = createReader(table.rows);
  const drafts: Drafts = { tasks: new Map(), logs: [], errors: [], rows: table.rows.length, emptyLines: new Set() };
  const note = (error: RowError) => void drafts.errors.push(error);
  for (const [index, row] of table.rows.entries()) {
    if (index % rowsAtOnce === rowsAtOnce - 1) await tick();
    const { line, problem } = row;
    if (problem) note({ line, column: null, message: problem.message, code: problem.code });
    else readRow(createRowReader(table, row, note), reading, drafts);
  }
  if (drafts.logs.length > logsMax)
    throw invalid(['csv'], `has more than ${logsMax.toLocaleString('en')} logs: split it`, 'too_big');
  return drafts;
}
