import { plain, plainLine, textOfHtml } from '../examples/terminal/plain-text.ts';
import { kebabCase } from './command.ts';
import { durationText } from './durations.ts';
import { cutTo, padEnd, widthOf } from './text-width.ts';

/* Answers for people: lists as tables, records line by line. Programs take `--json`. */

export type Look = {
  /** The width of the terminal. */
  columns: number;
  hasColor: boolean;
};

type Row = Record<string, unknown>;

const cellMax = 44;
/** What a row begins with, its identifier and the gap behind it. */
const firstWidth = 8;
/** Kept by the command, and nothing for a screen. */
const secrets = new Set(['access_token', 'refresh_token', 'login_ticket']);

/** An answer as text with a line end. */
export function showAnswer(answer: unknown, look: Look): string {
  if (answer === null || answer === undefined) return 'Nothing.\n';
  if (Array.isArray(answer)) return showList(answer, look);
  if (typeof answer !== 'object') return `${cellOf('', answer)}\n`;
  const record = answer as Row;
  if (Object.keys(record).length === 1 && record['success'] === true) return 'Done.\n';
  const lists = Object.entries(record).filter((entry): entry is [string, Row[]] => isTable(entry[1]));
  const filled = lists.filter(([, rows]) => rows.length > 0);
  const [list] = filled.length === 0 ? lists : filled;
  // A list with what belongs to it, such as its page: the list is what was asked for.
  if (list && filled.length <= 1 && isListAnswer(record)) {
    const [name, rows] = list;
    const { [name]: _, ...rest } = record;
    return showList(rows, look) + footOf(rest, rows.length, look);
  }
  return showRecord(record, look);
}

const isTable = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item));

/** A record has its identifier or, unless it is a page, more fields than a list has beside it. */
const isListAnswer = (record: Row): boolean =>
  !('_id' in record) && ('page' in record || 'nextCursor' in record || Object.keys(record).length <= 5);

function footOf({ page, totalPages, total, isTotalCapped, nextCursor, ...rest }: Row, shown: number, look: Look) {
  const lines = Object.entries(rest)
    .filter(([name, value]) => name !== 'pageSize' && (!isTable(value) || (value as unknown[]).length > 0))
    .map(([name, value]) => `${wordsOf(name)}: ${cellOf(name, value)}`);
  if (typeof total === 'number' && total > shown)
    lines.push(
      isTotalCapped === true
        ? `Page ${String(page)}, more than ${total} in all: --all shows every one.`
        : `Page ${String(page)} of ${String(totalPages)}, ${total} in all: --all shows every one.`,
    );
  else if (typeof nextCursor === 'string') lines.push(`There are more: --all shows every one.`);
  return lines.map((line) => `${dim(line, look)}\n`).join('');
}

function showList(items: readonly unknown[], look: Look): string {
  if (items.length === 0) return `${dim('None.', look)}\n`;
  if (!isTable(items)) return items.map((item) => `${cellOf('', item)}\n`).join('');
  return showTable(items as Row[], look);
}

/** What says most about a row stands first. */
const firstColumns = ['_id', 'title', 'name', 'status', 'email', 'at', 'type'];

/** As many columns as there is room for; those in which nothing stands are left out, and one's own company comes last. */
function showTable(rows: readonly Row[], look: Look): string {
  const all = new Set(rows.flatMap((row) => Object.keys(row)));
  const isLast = (name: string): boolean => /^company_?id$/i.test(name);
  const rest = [...all].filter((name) => !firstColumns.includes(name) && !secrets.has(name));
  const names = [
    ...firstColumns.filter((name) => all.has(name)),
    ...rest.filter((name) => !isLast(name)),
    ...rest.filter(isLast),
  ];
  const max = Math.min(cellMax, Math.max(firstWidth, look.columns - firstWidth));
  const columns = names
    .map((name) => {
      const cells = rows.map((row) => cutTo(plainLine(fieldOf(row, name)), max));
      const title = wordsOf(name);
      return { title, cells, width: Math.max(widthOf(title), ...cells.map(widthOf)), isNumber: isNumeric(rows, name) };
    })
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
  const shown: typeof columns = [];
  let width = 0;
  for (const column of columns) {
    width += column.width + (shown.length === 0 ? 0 : 2);
    if (shown.length > 0 && width > look.columns) break;
    shown.push(column);
  }
  const line = (cells: string[]): string =>
    cells
      .map((cell, at) => {
        const { width: to, isNumber } = shown[at]!;
        return isNumber ? ' '.repeat(to - widthOf(cell)) + cell : padEnd(cell, to);
      })
      .join('  ')
      .trimEnd();
  const lines = [
    bold(line(shown.map(({ title }) => title)), look),
    ...rows.map((_, at) => line(shown.map(({ cells }) => cells[at]!))),
  ];
  const left = columns.length - shown.length;
  if (left > 0)
    lines.push(dim(`${left} more ${left === 1 ? 'column' : 'columns'} in a wider terminal, all with --json.`, look));
  return `${lines.join('\n')}\n`;
}

const isNumeric = (rows: readonly Row[], name: string): boolean =>
  rows.every((row) => row[name] === null || row[name] === undefined || typeof row[name] === 'number');

function showRecord(record: Row, look: Look, indent = ''): string {
  const entries = Object.entries(record).filter(([name]) => !secrets.has(name));
  const width = Math.max(0, ...entries.map(([name]) => widthOf(wordsOf(name))));
  return entries
    .map(([name, value]) => {
      const title = wordsOf(name);
      if (isTable(value) && (value as Row[]).length > 0) {
        const table = showTable(value as Row[], { ...look, columns: look.columns - indent.length - 2 });
        return `${indent}${bold(title, look)}\n${table.replaceAll(/^(?=.)/gm, `${indent}  `)}`;
      }
      if (isRecord(value)) return `${indent}${bold(title, look)}\n${showRecord(value, look, `${indent}  `)}`;
      const lines = plain(fieldOf(record, name) || '–').split('\n');
      return (
        `${indent}${dim(padEnd(title, width), look)}  ${lines.join(`\n${indent}${' '.repeat(width + 2)}`)}`.trimEnd() +
        '\n'
      );
    })
    .join('');
}

const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

/** A field in a few words. The message of a comment is HTML, also where no tag is in it; others are text. */
function fieldOf(record: Row, name: string): string {
  const { [name]: value, sender } = record;
  return name === 'message' && sender !== undefined && typeof value === 'string'
    ? textOfHtml(value)
    : cellOf(name, value);
}

/** A value in a few words. */
function cellOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') {
    return instant.test(value) ? localTime(value) : value;
  }
  if (typeof value === 'number' && seconds.test(name)) return durationText(value);
  if (Array.isArray(value)) return value.map((item) => cellOf('', item)).join(', ');
  if (typeof value === 'object') {
    const { name: own, title, text, email, _id: id, company_name: company } = value as Row;
    return cellOf('', own ?? title ?? text ?? company ?? email ?? id ?? JSON.stringify(value));
  }
  return JSON.stringify(value);
}

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/** A moment as the clocks here show it. */
export function localTime(value: string | Date): string {
  const at = new Date(value);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${localDay(at)} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function localDay(at: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** Shown as hours and minutes. */
const seconds = /seconds$/i;

/** `estimatedHours` as "estimated hours", `totalSeconds` as "total". */
function wordsOf(name: string): string {
  const words = kebabCase(name).replaceAll('-', ' ');
  return seconds.test(name) ? words.replace(/ ?seconds$/, '') || 'time' : words;
}

const bold = (text: string, { hasColor }: Look): string => (hasColor ? `\u001B[1m${text}\u001B[22m` : text);
const dim = (text: string, { hasColor }: Look): string => (hasColor ? `\u001B[2m${text}\u001B[22m` : text);

/** How the standard output looks. */
export function lookOf({ isTTY, columns }: NodeJS.WriteStream, noColor: string | undefined): Look {
  const width = isTTY && columns > 0 ? columns : 120;
  const isPlain = !isTTY || (noColor !== undefined && noColor !== '');
  return { columns: width, hasColor: !isPlain };
}
