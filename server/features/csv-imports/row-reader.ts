import type { IssueCode } from '../../errors/issues.ts';
import { CellProblem } from './cell-problem.ts';
import { lengths } from './drafts.ts';
import { checkText, type Row, type Table } from './read-table.ts';

/** What is wrong with a row: `column` is null where the row as a whole is meant. */
export type RowError = { line: number; column: string | null; message: string; code: IssueCode };

export type RowReader<Field extends string> = {
  line: number;
  /** The first cell of a field; empty where the file has no such column. */
  cell(field: Field): string;
  /** A text that is stored; null where there is none. */
  text(field: Field, max: number): string | null;
  /** The same, where the row is nothing without it. */
  needed(field: Field, max: number): string | undefined;
  /** What `readValue` returns; notes its {@link CellProblem} at the column, and is undefined then. */
  read<Value>(field: Field, readValue: () => Value): Value | undefined;
  /** The same of a cell that is not stored as it is. */
  parse<Value>(field: Field, parse: (text: string) => Value, max?: number): Value | undefined;
  /** Notes a problem at the column. */
  refuse(field: Field, message: string, code: IssueCode): undefined;
  /** All cells of a repeated column that are not empty. */
  all(field: Field): string[];
  nameOf(field: Field): string;
  /** Whether a problem was noted. */
  isWrong(): boolean;
};

/** Reads the cells of a row, and notes what is wrong with each. */
export function createRowReader<Field extends string>(
  { nameOf }: Pick<Table<Field>, 'nameOf'>,
  { line, cells }: Pick<Row<Field>, 'line' | 'cells'>,
  note: (error: RowError) => void,
): RowReader<Field> {
  const cell = (field: Field): string => cells[field]?.[0] ?? '';

  let isWrong = false;

  function refuse(field: Field, message: string, code: IssueCode): undefined {
    isWrong = true;
    note({ line, column: nameOf(field), message, code });
    return undefined;
  }

  function read<Value>(field: Field, readValue: () => Value): Value | undefined {
    try {
      return readValue();
    } catch (error) {
      if (!(error instanceof CellProblem)) throw error;
      return refuse(field, error.message, error.code);
    }
  }

  return {
    line,
    cell,
    text: (field, max) => read(field, () => checkText(cell(field), max) || null) ?? null,
    needed: (field, max) =>
      read(field, () => {
        const text = checkText(cell(field), max);
        if (text === '') throw new CellProblem('is empty', 'required');
        return text;
      }),
    read,
    parse: (field, parse, max = lengths.parsed) => read(field, () => parse(checkText(cell(field), max))),
    refuse,
    all: (field) => (cells[field] ?? []).filter((one) => one !== ''),
    nameOf,
    isWrong: () => isWrong,
  };
}
