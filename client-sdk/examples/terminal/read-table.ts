import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { CsvError, parse } from 'csv-parse/sync';
import { Problem, UsageProblem } from './problem.ts';
import type { LineProblem } from './sentences.ts';

export type TableRow<Column extends string> = {
  /** The line of the file on which it begins; the header is on line 1. */
  line: number;
  /** Empty where the file has no such column or nothing in it. */
  cells: Record<Column, string>;
};

export type Table<Column extends string> = {
  /** How messages call the file. */
  name: string;
  rows: TableRow<Column>[];
  /** Rows that have more or fewer cells than the header. */
  problems: LineProblem[];
};

export type TableShape<Column extends string> = {
  columns: readonly Column[];
  /** Of each list one column must be there. */
  required: readonly (readonly Column[])[];
  /** What the file calls a column: `task_id=Ticket`. */
  renames?: readonly string[] | undefined;
};

/**
 * Reads a CSV file with a header: UTF-8, separated by comma, semicolon or tab, quoted as in RFC 4180. Columns are found by
 * name without regard to case, `Task ID` as `task_id`.
 */
export async function readTable<Column extends string>(
  path: string,
  { columns, required, renames = [] }: TableShape<Column>,
): Promise<Table<Column>> {
  const name = path === '-' ? 'The standard input' : basename(path);
  const [header, ...records] = parseRecords(name, await readText(path, name));
  if (!header) throw new Problem(`${name} is empty. Its first line must name the columns: ${columns.join(', ')}`);
  const names = nameColumns(columns, renames);
  const places = findPlaces(name, header.cells, names);
  for (const alternatives of required)
    if (!alternatives.some((column) => places.has(column)))
      throw missing(
        name,
        alternatives.map((column) => names.get(column)!),
        header.cells,
      );

  const problems: LineProblem[] = [];
  const rows: TableRow<Column>[] = [];
  for (const { line, cells } of records) {
    if (cells.every((cell) => cell === '')) continue;
    if (cells.length !== header.cells.length)
      problems.push({ line, problem: `has ${cells.length} cells, the header has ${header.cells.length}` });
    const named = columns.map((column) => [column, cells[places.get(column) ?? -1] ?? '']);
    rows.push({ line, cells: Object.fromEntries(named) as Record<Column, string> });
  }
  return { name, rows, problems };
}

async function readText(path: string, name: string): Promise<string> {
  const bytes = await (path === '-' ? buffer(process.stdin) : readFile(path));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Problem(`${name} is not UTF-8. Save it as "CSV UTF-8" in the program that it comes from.`);
  }
}

type TableRecord = { line: number; cells: string[] };

function parseRecords(name: string, text: string): TableRecord[] {
  const firstLine = text.slice(0, /[\r\n]|$/.exec(text)!.index);
  const [delimiter] = [',', ';', '\t'].toSorted((a, b) => firstLine.split(b).length - firstLine.split(a).length);
  try {
    // With one kind of line end all agree on how many lines there are.
    const parsed = parse(text.replaceAll(/\r\n?/g, '\n'), {
      delimiter: delimiter!,
      record_delimiter: '\n',
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      info: true,
    }) as unknown as { record: string[]; info: { lines: number } }[];
    return parsed.map(({ record: cells, info }) => ({
      // What is known is the line of its end.
      line: info.lines - cells.join('').split('\n').length + 1,
      cells,
    }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new Problem(`${name} is no valid CSV: ${error.message}.`);
  }
}

/** What the file calls each column. */
function nameColumns<Column extends string>(columns: readonly Column[], renames: readonly string[]) {
  const names = new Map<Column, string>(columns.map((column) => [column, column]));
  for (const rename of renames) {
    const [given, ...theirs] = rename.split('=');
    const column = columns.find((one) => one === given);
    if (column === undefined || theirs.join('=') === '')
      throw new UsageProblem(
        `--column takes one of ${columns.join(', ')} and what the file calls it: ${columns[0]}=Name`,
      );
    names.set(column, theirs.join('='));
  }
  return names;
}

function findPlaces<Column extends string>(name: string, header: string[], names: Map<Column, string>) {
  const places = new Map<Column, number>();
  for (const [column, theirs] of names) {
    const found = header.flatMap((cell, place) => (canonical(cell) === canonical(theirs) ? [place] : []));
    if (found.length > 1) throw new Problem(`${name} has the column ${theirs} more than once.`);
    if (found[0] !== undefined) places.set(column, found[0]);
    else if (theirs !== column) throw missing(name, [theirs], header);
  }
  return places;
}

function missing(name: string, wanted: string[], header: string[]): Problem {
  const theirs = header.map((cell) => `"${cell}"`).join(', ');
  return new Problem(`${name} has no column ${wanted.join(' or ')}, only ${theirs}. --column says what it calls it.`);
}

function canonical(name: string): string {
  return name.toLowerCase().replaceAll(/[\s-]+/g, '_');
}
