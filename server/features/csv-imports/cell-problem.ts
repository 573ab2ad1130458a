import type { IssueCode } from '../../errors/issues.ts';

/** What is wrong with a cell: `message` continues a sentence that begins with the name of its column. */
export class CellProblem extends Error {
  override name = 'CellProblem';
  readonly code: IssueCode;

  constructor(message: string, code: IssueCode = 'invalid_format') {
    super(message);
    this.code = code;
  }
}

/** A text of the file as messages quote it. */
export const quote = (text: string): string => `"${text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text}"`;
