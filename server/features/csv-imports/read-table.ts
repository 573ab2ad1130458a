import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as tick } from 'node:timers/promises';
import { CsvError, parse, type InfoRecord } from 'csv-parse';
import { invalid } from '../../errors/errors.ts';
import { CellProblem, quote } from './cell-problem.ts';

/*
 * Reads CSV by RFC 4180: UTF-8 with or without a byte order mark, with commas, semicolons or tabs. The file is read in slices, so
 * that other requests are served while a long one is read.
 */

const rowsMax = 20_000;
const columnsMax = 1_000;
const sliceBytes = 64 * 1024;

/** The columns of a source by field: the names that files have had for it, in any letter case. */
export type Columns<Field extends string> = Record<
  Field,
  { names: readonly string[]; isRequired?: true; isRepeated?: true }
>;

export type Row<Field extends string> = {
  /** The line on which it begins; the first line of the file is 1. */
  line: number;
  /** The cells of a field; more than one only where its column is repeated. */
  cells: Partial<Record<Field, readonly string[]>>;
  /** Why it cannot be read as a whole. */
  problem?: CellProblem;
};

export type Table<Field extends string> = {
  rows: Row<Field>[];
  /** What the file calls the column of a field; the name that is expected where it has none. */
  nameOf(field: Field): string;
};

export async function readTable<Field extends string>(csv: string, columns: Columns<Field>): Promise<Table<Field>> {
  const text = csv.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
  const rows: Row<Field>[] = [];
  let header: Header<Field> | undefined;
  let lastLine = 0;

  // Called for each record as it is read, so that an error finds the line before it.
  function take(record: string[], { lines }: InfoRecord): undefined {
    const line = lastLine + 1;
    lastLine = lines;
    if (record.every((cell) => cell.trim() === '')) return undefined;
    if (!header) header = readHeader(record, columns);
    else rows.push(toRow(line, record, header));
    if (rows.length > rowsMax)
      throw invalid(['csv'], `has more than ${rowsMax.toLocaleString('en')} rows: split it`, 'too_big');
    return undefined;
  }
  const parser = parse({
    delimiter: delimiterOf(text),
    record_delimiter: '\n',
    relax_column_count: true,
    on_record: take,
  });
  try {
    await pipeline(Readable.from(slices(Buffer.from(text))), parser.resume());
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const column = header?.names[(error as { column?: number }).column ?? -1];
    throw invalid(
      ['csv', lastLine + 1, ...(column === undefined ? [] : [column])],
      sentenceOf(error),
      'invalid_format',
    );
  }
  if (!header) throw invalid(['csv'], 'is empty: its first line must name the columns', 'too_small');
  const { names, places } = header;
  return {
    rows,
    nameOf: (field) => names[places[field][0] ?? -1] ?? columns[field].names[0]!,
  };
}

async function* slices(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += sliceBytes) {
    yield bytes.subarray(from, from + sliceBytes);
    await tick();
  }
}

/** The one that divides the first line most often. */
function delimiterOf(text: string): string {
  const [firstLine] = text.trimStart().split('\n', 1) as [string];
  const [delimiter] = [',', ';', '\t'].toSorted((a, b) => firstLine.split(b).length - firstLine.split(a).length);
  return delimiter!;
}

const sentenceOf = ({ code }: CsvError): string =>
  code === 'CSV_QUOTE_NOT_CLOSED'
    ? 'opens a quote that is never closed'
    : 'has a quote inside a cell: a cell with a quote stands in quotes, and the quote in it is doubled';

type Header<Field extends string> = { names: string[]; places: Record<Field, number[]> };

const canonical = (name: string): string => name.trim().replaceAll(/\s+/g, ' ').toLowerCase();

function readHeader<Field extends string>(names: string[], columns: Columns<Field>): Header<Field> {
  if (names.length > columnsMax)
    throw invalid(['csv', 1], `has more than ${columnsMax.toLocaleString('en')} columns`, 'too_big');
  const given = names.map(canonical);
  const entries = Object.entries<Columns<Field>[Field]>(columns).map(([field, { names: known, ...column }]) => {
    const places = given.flatMap((name, place) => (known.some((one) => canonical(one) === name) ? [place] : []));
    if (places.length === 0 && column.isRequired)
      throw invalid(['csv', 1], `has no column ${known.join(' or ')}`, 'required');
    if (places.length > 1 && !column.isRepeated)
      throw invalid(['csv', 1, names[places[1]!]!], 'stands there more than once', 'duplicate');
    return [field, places] as const;
  });
  return { names, places: Object.fromEntries(entries) as Record<Field, number[]> };
}

function toRow<Field extends string>(line: number, record: string[], { names, places }: Header<Field>): Row<Field> {
  const surplus = record.slice(names.length).some((cell) => cell.trim() !== '');
  if (surplus || record.length < names.length) {
    const message = `has ${record.length} cells, and the first line has ${names.length}`;
    return { line, cells: {}, problem: new CellProblem(message, 'mismatch') };
  }
  const cells = Object.entries<number[]>(places).map(([field, all]) => [
    field,
    all.map((place) => record[place]!.trim()),
  ]);
  return { line, cells: Object.fromEntries(cells) as Row<Field>['cells'] };
}

/** Throws if a text was not read as UTF-8, or cannot be stored. */
export function checkText(text: string, max: number): string {
  if (text.includes('\0')) throw new CellProblem('has a NUL character');
  if (text.includes('\uFFFD')) throw new CellProblem('has characters that are lost: the file was not read as UTF-8');
  if (text.length > max)
    throw new CellProblem(`has ${text.length} characters, and ${max} are allowed: ${quote(text)}`, 'too_big');
  return text;
}
