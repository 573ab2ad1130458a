import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { Download, orDownload, requireDownloads } from '../../kernel/wire/download.ts';
import { ADMIN_REQUIRED, FORBIDDEN, NOT_FOUND, notFoundIn } from '../../errors/errors.ts';
import { inTurns, streamed } from '../../kernel/wire/json-stream.ts';
import { auditExport } from '../../kernel/audit.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { checkRange, rangeDaysMax } from '../../kernel/wire/day-range.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { findEmployee } from '../employees/queries.ts';
import { isProject } from '../projects/queries.ts';
import { csvPieces, type Cell } from '../../kernel/wire/csv.ts';
import { xlsxPieces } from '../../kernel/wire/xlsx.ts';
import { getCompany } from '../company/queries.ts';
import { columnsOf, fieldsOf, Totals } from './columns.ts';
import { sheetsOf } from './pages.ts';
import { pdfPieces } from './pdf.ts';
import { listCurrencies, nameDetails, type Scope } from './queries.ts';
import { rowsOf } from './rows.ts';
import { groupings, rowSchemas, Timesheet, type Grouping, type Row } from './schemas.ts';

/** Up to this many rows are answered at once. */
const shortMax = 5_000;

const csvExample = [
  'userId,name,date,seconds,hours',
  '7,Ada Lovelace,2026-03-02,5400,1.5',
  'Total,,,5400,1.5',
  '',
].join('\r\n');

export const getTimesheet = member('time')
  .meta(
    rest('GET /api/timesheets/{company_id}/', {
      section: 'Additions',
      summary: 'Logged time of a range of days, as JSON, CSV, a workbook or pages to sign',
      description: `Logs are cut at midnight in the company's time zone, and only their parts from \`from\` to \`to\` (both included, at most ${rangeDaysMax} days) count; whatever the rows are, the total is the same. Rows are one for each person and day, person and ISO week (a column for each day, in seconds), project, task, or person; without time there is no row. Rows of people come alphabetically, then by day; projects alphabetically; tasks by identifier. Time on deleted tasks and of former employees stays in. Admins and team leaders see everybody, or one person by \`userId\`; others see themselves, with or without it. \`format=csv\` answers a file with the same rows, and a last line that begins with \`Total\`: one without that line broke off. It begins with a byte order mark, and text that a spreadsheet would run as a formula is led by an apostrophe. \`format=xlsx\` answers a workbook with the same cells: numbers are numbers, days are dates, and text is text whatever it begins with. \`format=pdf\` answers pages to sign: one for each person and period of the company's time policy, cut to the range, with its status, a line for each day (with \`project\` and \`task\` for each day and project or task), its total in hours, and lines for the signatures of the employee and an approver; what does not fit goes on on another page. A file is a row of the audit log. With \`amounts=true\`, for admins, rows say what their time amounts to in each currency, and a file has a column for each currency; a log is charged in whole minor units, and its parts add up to it. A long answer is sent while it is made, in every format.`,
      errors: [FORBIDDEN, ADMIN_REQUIRED],
      isLongRead: true,
      example: { company_id: 42, from: '2026-03-01', to: '2026-03-31', groupBy: 'week', format: 'json' },
      tool: { name: 'timesheet', hides: ['format', 'amounts'] },
    }),
  )
  .input(
    z.object({
      company_id: idOf('company'),
      from: day,
      to: day,
      userId: idOf('employee').optional(),
      projectId: idOf('project').optional(),
      groupBy: z.enum(groupings).default('day'),
      format: z.enum(['json', 'csv', 'xlsx', 'pdf']).default('json'),
      amounts: z.boolean().default(false).meta({ description: 'Whether to say what time amounts to, for admins' }),
    }),
  )
  .output(orDownload(Timesheet, { csv: csvExample, xlsx: null, pdf: null }))
  .query(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    const { from, to, userId, projectId, groupBy, format, amounts } = input;
    if (input.company_id !== companyId) throw NOT_FOUND();
    if (format !== 'json') requireDownloads(ctx.request);
    checkRange(from, to);
    if (amounts && !caller.isAdmin)
      throw ADMIN_REQUIRED({ detail: 'Only an admin of the company sees what time amounts to.' });
    if (userId !== undefined && !(await findEmployee(db, companyId, userId))) throw notFoundIn('userId');
    if (projectId !== undefined && !(await isProject(db, companyId, projectId))) throw notFoundIn('projectId');
    const seesAll = caller.isAdmin || caller.isTeamLeader;
    if (!seesAll && userId !== undefined && userId !== caller.employeeId) throw FORBIDDEN();

    const employeeId = seesAll ? userId : caller.employeeId;
    const scope: Scope = { companyId, from, to, amounts, employeeId, projectId };
    if (format === 'json') return toTimesheet(db, scope, groupBy);
    const { companyId: _, ...asked } = scope;
    await auditExport(ctx, 'timesheets.get', { ...asked, groupBy, format });
    const body =
      format === 'pdf'
        ? await printed({ db, scope, groupBy }, ctx.services.clock.now())
        : await tabular({ db, scope, groupBy }, format);
    return new Download({
      format,
      filename: `timesheet_${from}_${to}_by_${groupBy}.${format}`,
      body: inTurns(body),
    });
  });

async function toTimesheet(db: Db, scope: Scope, groupBy: Grouping): Promise<z.input<typeof Timesheet>> {
  const { from, to } = scope;
  const head = { from, to, groupBy };
  const batches = rowsOf(db, scope, groupBy);
  const rows: Row[] = [];
  for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
    for (const row of next.value) rows.push(row);
    if (rows.length > shortMax) return longTimesheet(scope, groupBy, rows, batches);
  }
  const totals = new Totals();
  totals.add(rows);
  return { ...head, rows, ...shown(totals, scope) } as z.input<typeof Timesheet>;
}

const shown = ({ seconds, amounts }: Totals, scope: Scope) =>
  scope.amounts ? { totalSeconds: seconds, totalAmounts: amounts } : { totalSeconds: seconds };

/** A timesheet whose first rows have been read. */
function longTimesheet(scope: Scope, groupBy: Grouping, first: Row[], following: AsyncIterable<Row[]>): never {
  const { from, to } = scope;
  const totals = new Totals();
  async function* batches() {
    totals.add(first);
    yield first;
    for await (const rows of following) {
      totals.add(rows);
      yield rows;
    }
  }
  const item: z.ZodType = rowSchemas[groupBy];
  const others = () => ({ from, to, groupBy, ...shown(totals, scope) });
  return streamed({ field: 'rows', item, batches: batches(), others });
}

type Asked = { db: Db; scope: Scope; groupBy: Grouping };
type Pieces = AsyncGenerator<string | Uint8Array>;

async function tabular({ db, scope, groupBy }: Asked, format: 'csv' | 'xlsx'): Promise<Pieces> {
  const currencies = scope.amounts ? await listCurrencies(db, scope.companyId) : [];
  const { columns, cellsOf, totalCells } = columnsOf(fieldsOf(groupBy), currencies);
  const totals = new Totals();
  async function* batches(): AsyncGenerator<Cell[][]> {
    for await (const rows of rowsOf(db, scope, groupBy)) {
      totals.add(rows);
      yield rows.map(cellsOf);
    }
  }
  const last = () => totalCells(totals);
  if (format === 'xlsx') return xlsxPieces({ name: 'Timesheet', columns, batches: batches(), lastRow: last });
  const names = columns.map(({ name }) => name);
  return csvPieces(names, batches(), last);
}

async function printed({ db, scope, groupBy }: Asked, at: Date): Promise<Pieces> {
  const { companyId, from, to, projectId } = scope;
  const { name: company } = await getCompany(db, companyId);
  const names = projectId === undefined ? undefined : await nameDetails(db, companyId, 'project_id', [projectId]);
  const project = names?.get(projectId!)?.project;
  return pdfPieces({ company, from, to, groupBy, project, sheets: sheetsOf(db, scope, groupBy), at });
}
