import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setImmediate as tick } from 'node:timers/promises';
import type { Cell } from '../../kernel/wire/csv.ts';
import type { SheetColumn } from '../../kernel/wire/xlsx.ts';
import { hoursOf } from '../projects/hours.ts';
import { columnsOf, printedFieldsOf, Totals } from './columns.ts';
import type { Sheet } from './pages.ts';
import { weekdays, type Grouping } from './schemas.ts';

/*
 * A timesheet on paper: a page for each person and period, to be signed.
 * - What does not fit on a page goes on on the next one, under the same heading; the last one has the total and the lines
 *   for the signatures.
 * - All lines of a person and period are measured before their first page. Other requests are served between some of them.
 * - A page is drawn when the caller has read those before it. Of a drawn page the document keeps its number and place.
 * - The fonts are embedded with those of their characters that occur.
 */

type Report = {
  company: string;
  from: string;
  to: string;
  groupBy: Grouping;
  /** The name of the only project whose time is asked for. */
  project: string | undefined;
  sheets: AsyncIterable<Sheet>;
  at: Date;
};

type Document = PDFKit.PDFDocument;

const margin = 50;
const [paperWidth, paperHeight] = [595.28, 841.89];
const width = paperWidth - 2 * margin;
const bottom = paperHeight - margin - 14;
const [right, labelWidth, padding] = [margin + width, 70, 4];
const signaturesHeight = 96;
const [ink, grey, line, fill] = ['#1a1a1a', '#5c5c5c', '#c8c8c8', '#f0f0f0'];

const files = createRequire(import.meta.url);
const readFont = (name: string) => readFile(files.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`));
/** Read with the first document. */
let fonts: { regular: Buffer; bold: Buffer } | undefined;

export async function* pdfPieces({ sheets, ...about }: Report): AsyncGenerator<Uint8Array> {
  fonts ??= { regular: await readFont('DejaVuSansCondensed'), bold: await readFont('DejaVuSansCondensed-Bold') };
  const { regular, bold } = fonts;
  const { default: PDFDocument } = await import('pdfkit');
  const doc = new PDFDocument({
    size: [paperWidth, paperHeight],
    // Text is placed, and never moves to another page by itself.
    margin: 0,
    autoFirstPage: false,
    lang: 'en',
    displayTitle: true,
    info: { Title: `Timesheet of ${about.company}, ${about.from} to ${about.to}`, CreationDate: about.at },
  });
  doc.registerFont('regular', regular).registerFont('bold', bold);
  let isEmpty = true;
  for await (const sheet of sheets) {
    for (const page of await pagesOf(doc, sheet, about)) {
      drawPage(doc, page);
      yield* written(doc);
    }
    isEmpty = false;
  }
  if (isEmpty) drawEmptyPage(doc, about);
  doc.end();
  yield* written(doc);
}

function* written(doc: Document): Generator<Uint8Array> {
  const bytes = doc.read() as Buffer | null;
  if (bytes) yield bytes;
}

type Field = [label: string, value: string];
type PrintedRow = { cells: string[]; height: number };
type PrintedColumn = { title: string; width: number; isText: boolean };
type Page = {
  company: string;
  fields: Field[];
  columns: PrintedColumn[];
  fontSize: number;
  rows: PrintedRow[];
  /** On the last page of a person's period. */
  end: { total: PrintedRow; name: string } | undefined;
  number: number;
  pages: number;
};

const rowsAtOnce = 200;

async function* withTicks<Row>(rows: Iterable<Row>): AsyncGenerator<Row> {
  let count = 0;
  for (const row of rows) {
    yield row;
    count += 1;
    if (count % rowsAtOnce === 0) await tick();
  }
}

/** The pages of one person and period. */
async function pagesOf(
  doc: Document,
  sheet: Sheet,
  { company, groupBy, project }: Omit<Report, 'sheets'>,
): Promise<Page[]> {
  const totals = new Totals();
  totals.add(sheet.lines);
  const currencies = totals.amounts.map(({ currency }) => currency);
  const { columns, cellsOf, totalCells } = columnsOf(printedFieldsOf(groupBy), currencies);
  const print = (cells: Cell[]): string[] => cells.map((cell, index) => toText(cell, columns[index]!));
  const lines = sheet.lines.map((one) => print(cellsOf(one)));
  const total = print(totalCells(totals));
  const fields = fieldsOf(sheet, project);
  const table = await layOut(doc, columns, [...lines, total]);
  const totalRow = { cells: total, height: heightOf(doc, total, table) };

  const top = headHeight(doc, fields) + rowHeight(table.fontSize);
  const parts: PrintedRow[][] = [[]];
  let y = top;
  for await (const cells of withTicks(lines)) {
    const height = heightOf(doc, cells, table);
    if (y + height > bottom) {
      parts.push([]);
      y = top;
    }
    parts.at(-1)!.push({ cells, height });
    y += height;
  }
  // Nobody signs a page without a day: the last one comes along.
  if (y + totalRow.height + signaturesHeight > bottom) parts.push([parts.at(-1)!.pop()!]);
  return parts.map((rows, index) => ({
    company,
    fields,
    ...table,
    rows,
    end: index === parts.length - 1 ? { total: totalRow, name: sheet.person.name } : undefined,
    number: index + 1,
    pages: parts.length,
  }));
}

function fieldsOf({ person, firstDay, lastDay, from, to, states }: Sheet, project: string | undefined): Field[] {
  const isCut = from !== firstDay || to !== lastDay;
  return [
    ['Employee', `${person.name} (no. ${person.userId})`],
    ['Period', `${firstDay} to ${lastDay}`],
    ...(isCut ? [['Days', `${from} to ${to} only`] satisfies Field] : []),
    ...(project === undefined ? [] : [['Project', `${project} only`] satisfies Field]),
    ['Status', states.map((state) => sayState(state, firstDay, lastDay)).join('; ') || 'open'],
  ];
}

function sayState(stored: Sheet['states'][number], firstDay: string, lastDay: string): string {
  const isSame = stored.first_day === firstDay && stored.last_day === lastDay;
  const days = isSame ? '' : `${stored.first_day} to ${stored.last_day} `;
  const isDecided = stored.state === 'approved' || stored.state === 'rejected';
  const by = isDecided && stored.decided_by !== null ? ` by ${stored.decided_by}` : '';
  return `${days}${stored.state}${by}${isDecided && stored.decided_on !== null ? ` on ${stored.decided_on}` : ''}`;
}

const titles: Record<string, string> = { name: 'Employee' };
const titleOf = ({ name }: SheetColumn): string =>
  titles[name] ?? (name.startsWith('amount ') ? name.slice('amount '.length) : name[0]!.toUpperCase() + name.slice(1));

const isWeekday = ({ name }: SheetColumn): boolean => (weekdays as readonly string[]).includes(name);

/** A number with the decimals of its column; the seconds of a day of the week in hours. */
function toText(cell: Cell, column: SheetColumn): string {
  if (typeof cell !== 'number') return (cell ?? '').replaceAll(/\s+/g, ' ');
  if (isWeekday(column)) return hoursOf(cell).toFixed(2);
  return cell.toFixed(column.format.split('.')[1]?.length ?? 0);
}

type Table = { columns: PrintedColumn[]; fontSize: number };

const fontSizeMax = 9;
/** What remains for names is shared between their columns, which have this at least. */
const textWidthMin = 110;

/**
 * Columns of names share what the others leave; without names the first column takes it. The others are as wide as what
 * is in them, and if that does not fit, the letters are smaller.
 */
async function layOut(doc: Document, columns: SheetColumn[], rows: string[][]): Promise<Table> {
  doc.font('bold').fontSize(fontSizeMax);
  const hasNames = columns.some(({ format }) => format === '@');
  const isWide = columns.map(({ format }, index) => (hasNames ? format === '@' : index === 0));
  const widthsAtMax = columns.map(() => 0);
  for await (const cells of withTicks([columns.map(titleOf), ...rows]))
    for (const [index, text] of cells.entries())
      if (!isWide[index]!) widthsAtMax[index] = Math.max(widthsAtMax[index]!, 2 * padding + doc.widthOfString(text));
  const wide = isWide.filter(Boolean).length;
  const needed = widthsAtMax.reduce((sum, one) => sum + one, 0);
  const scale = Math.min(1, (width - wide * textWidthMin) / needed);
  const left = width - needed * scale;
  return {
    fontSize: fontSizeMax * scale,
    columns: columns.map((column, index) => ({
      title: titleOf(column),
      width: isWide[index]! ? left / wide : widthsAtMax[index]! * scale,
      isText: column.format === '@' || column.isDate,
    })),
  };
}

const rowHeight = (fontSize: number): number => fontSize * 1.2 + 2 * padding;
const linesMax = 3;

/** The height of a row: names take up to three lines. */
function heightOf(doc: Document, cells: string[], { columns, fontSize }: Table): number {
  doc.font('regular').fontSize(fontSize);
  const heights = columns.map(({ isText, width }, index) =>
    isText && doc.widthOfString(cells[index]!) > width - 2 * padding
      ? doc.heightOfString(cells[index]!, { width: width - 2 * padding })
      : 0,
  );
  return Math.max(
    rowHeight(fontSize),
    Math.min(Math.max(...heights), linesMax * doc.currentLineHeight()) + 2 * padding,
  );
}

/** Text that is cut where its lines end. */
const boxed = (width: number, height: number): PDFKit.Mixins.TextOptions => ({ width, height, ellipsis: true });
const valueHeight = 28;

function headHeight(doc: Document, fields: Field[]): number {
  return margin + 62 + fields.reduce((sum, field) => sum + fieldHeight(doc, field), 0) + 14;
}

function fieldHeight(doc: Document, [, value]: Field): number {
  doc.font('regular').fontSize(10);
  return Math.min(valueHeight, doc.heightOfString(value, { width: width - labelWidth })) + 3;
}

function drawHead(doc: Document, company: string, fields: Field[]): number {
  doc.addPage();
  doc.font('regular').fontSize(10).fillColor(grey).text(company, margin, margin, boxed(width, 14));
  doc
    .font('bold')
    .fontSize(20)
    .fillColor(ink)
    .text('Timesheet', margin, margin + 18);
  let y = margin + 62;
  for (const field of fields) {
    const [label, value] = field;
    const height = fieldHeight(doc, field);
    doc.fillColor(grey).text(label, margin, y, { lineBreak: false });
    doc.fillColor(ink).text(value, margin + labelWidth, y, boxed(width - labelWidth, valueHeight));
    y += height;
  }
  return y + 14;
}

function drawPage(doc: Document, { company, fields, rows, end, number, pages, ...table }: Page): void {
  let y = drawHead(doc, company, fields);
  const head = { cells: table.columns.map(({ title }) => title), height: rowHeight(table.fontSize) };
  doc.rect(margin, y, width, head.height).fill(fill);
  y = drawRow(doc, head, y, table, 'bold');
  for (const row of rows) {
    y = drawRow(doc, row, y, table, 'regular');
    rule(doc, margin, right, y, line);
  }
  if (end) {
    rule(doc, margin, right, y, ink);
    y = drawRow(doc, end.total, y, table, 'bold');
    drawSignatures(doc, end.name);
  }
  if (pages > 1) {
    doc.font('regular').fontSize(8).fillColor(grey);
    const text = `Page ${number} of ${pages}`;
    doc.text(text, right - doc.widthOfString(text), paperHeight - margin, { lineBreak: false });
  }
}

function drawRow(
  doc: Document,
  { cells, height }: PrintedRow,
  y: number,
  table: Table,
  font: 'regular' | 'bold',
): number {
  doc.font(font).fontSize(table.fontSize).fillColor(ink);
  let x = margin;
  for (const [index, column] of table.columns.entries()) {
    const text = cells[index]!;
    if (column.isText)
      doc.text(text, x + padding, y + padding, boxed(column.width - 2 * padding, height - 2 * padding));
    else doc.text(text, x + column.width - padding - doc.widthOfString(text), y + padding, { lineBreak: false });
    x += column.width;
  }
  return y + height;
}

function rule(doc: Document, from: number, to: number, y: number, color: string): void {
  doc.moveTo(from, y).lineTo(to, y).lineWidth(0.5).stroke(color);
}

/** Two lines to sign on and two for the days, at the foot of the page. */
function drawSignatures(doc: Document, name: string): void {
  const half = (width - 24) / 2;
  const y = bottom - 24;
  for (const [index, signer] of [`Employee: ${name}`, 'Approver'].entries()) {
    const x = margin + index * (half + 24);
    const dateX = x + half - 70;
    rule(doc, x, dateX - 10, y, ink);
    rule(doc, dateX, x + half, y, ink);
    doc.font('regular').fontSize(8).fillColor(grey);
    doc.text(signer, x, y + 4, boxed(half - 80, 22));
    doc.text('Date', dateX, y + 4, { lineBreak: false });
  }
}

function drawEmptyPage(doc: Document, { company, from, to, project }: Omit<Report, 'sheets'>): void {
  const y = drawHead(doc, company, [
    ['Days', `${from} to ${to}`],
    ...(project === undefined ? [] : [['Project', `${project} only`] satisfies Field]),
  ]);
  doc.text('No time was logged on these days.', margin, y);
}
