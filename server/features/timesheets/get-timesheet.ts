import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { Download, orDownload, requireDownloads } from '../../kernel/wire/download.ts';
import { FORBIDDEN, invalid, NOT_FOUND, notFoundIn } from '../../errors/errors.ts';
import { listPieces, streamed } from '../../kernel/wire/json-stream.ts';
import { auditExport } from '../../kernel/audit.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { findEmployee } from '../employees/queries.ts';
import { isProject } from '../projects/queries.ts';
import { hoursOf } from '../projects/hours.ts';
import { csvPieces, type Cell } from '../../kernel/wire/csv.ts';
import type { Scope } from './queries.ts';
import { rowsOf } from './rows.ts';
import { groupings, rowSchemas, Timesheet, type Grouping, type Row } from './schemas.ts';

const daysMax = 366;
const dayMs = 24 * 3600 * 1000;
/** Up to this many rows are answered at once. */
const shortMax = 5_000;

const csvExample = [
  'userId,name,date,seconds,hours',
  '7,Ada Lovelace,2026-03-02,5400,1.5',
  'Total,,,5400,1.5',
  '',
].join('\r\n');

export const getTimesheet = member
  .meta(
    rest('GET /api/timesheets/{company_id}/', {
      section: 'Additions',
      summary: 'Logged time of a range of days, as JSON or CSV',
      description: `Logs are cut at midnight in the company's time zone, and only their parts from \`from\` to \`to\` (both included, at most ${daysMax} days) count; whatever the rows are, the total is the same. Rows are one for each person and day, person and ISO week (a column for each day, in seconds), project, task, or person; without time there is no row. Rows of people come alphabetically, then by day; projects alphabetically; tasks by identifier. Time on deleted tasks and of former employees stays in. Admins and team leaders see everybody, or one person by \`userId\`; others see themselves, with or without it. \`format=csv\` answers a file with the same rows, and a last line that begins with \`Total\`: one without that line broke off. A file is a row of the audit log. It begins with a byte order mark, and text that a spreadsheet would run as a formula is led by an apostrophe. A long answer is sent while it is made, in both formats.`,
      errors: [FORBIDDEN],
      isLongRead: true,
      example: { company_id: 42, from: '2026-03-01', to: '2026-03-31', groupBy: 'week', format: 'json' },
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
      format: z.enum(['json', 'csv']).default('json'),
    }),
  )
  .output(orDownload(Timesheet, { 'text/csv': csvExample }))
  .query(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    const { from, to, userId, projectId, groupBy, format } = input;
    if (input.company_id !== companyId) throw NOT_FOUND();
    if (format === 'csv') requireDownloads(ctx.request, 'format');
    checkRange(from, to);
    if (userId !== undefined && !(await findEmployee(db, companyId, userId))) throw notFoundIn('userId');
    if (projectId !== undefined && !(await isProject(db, companyId, projectId))) throw notFoundIn('projectId');
    const seesAll = caller.isAdmin || caller.isTeamLeader;
    if (!seesAll && userId !== undefined && userId !== caller.employeeId) throw FORBIDDEN();

    const employeeId = seesAll ? userId : caller.employeeId;
    const scope: Scope = {
      companyId,
      from,
      to,
      ...(employeeId === undefined ? {} : { employeeId }),
      ...(projectId === undefined ? {} : { projectId }),
    };
    if (format === 'json') return toTimesheet(db, scope, groupBy);
    const { companyId: _, ...asked } = scope;
    await auditExport(ctx, 'timesheets.get', { ...asked, groupBy, format });
    return toFile(db, scope, groupBy);
  });

function checkRange(from: string, to: string): void {
  const days = 1 + (Date.parse(to) - Date.parse(from)) / dayMs;
  if (days < 1) throw invalid(['to'], 'must not be before from', 'out_of_range');
  if (days > daysMax) throw invalid(['to'], `must be at most ${daysMax - 1} days after from`, 'out_of_range');
}

async function toTimesheet(db: Db, scope: Scope, groupBy: Grouping): Promise<z.input<typeof Timesheet>> {
  const head = { from: scope.from, to: scope.to, groupBy };
  const batches = rowsOf(db, scope, groupBy);
  const rows: Row[] = [];
  for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
    for (const row of next.value) rows.push(row);
    if (rows.length > shortMax) return streamed(longTimesheet(head, rows, batches));
  }
  return { ...head, rows, totalSeconds: secondsOf(rows) } as z.input<typeof Timesheet>;
}

const secondsOf = (rows: readonly Row[]): number => rows.reduce((total, { seconds }) => total + seconds, 0);

type Head = Pick<Scope, 'from' | 'to'> & { groupBy: Grouping };

/** The pieces of a timesheet whose first rows have been read. */
function longTimesheet(head: Head, first: Row[], following: AsyncIterable<Row[]>): AsyncGenerator<string> {
  let totalSeconds = 0;
  async function* batches() {
    totalSeconds += secondsOf(first);
    yield first;
    for await (const rows of following) {
      totalSeconds += secondsOf(rows);
      yield rows;
    }
  }
  const item: z.ZodType = rowSchemas[head.groupBy];
  return listPieces({ field: 'rows', item, batches: batches(), others: () => ({ ...head, totalSeconds }) });
}

function toFile(db: Db, scope: Scope, groupBy: Grouping): Download {
  const columns = Object.keys(rowSchemas[groupBy].shape);
  let totalSeconds = 0;
  async function* lines(): AsyncGenerator<Cell[][]> {
    for await (const rows of rowsOf(db, scope, groupBy)) {
      totalSeconds += rows.reduce((total, { seconds }) => total + seconds, 0);
      yield rows.map((row) => columns.map((column) => (row as Record<string, Cell>)[column]!));
    }
  }
  const totals: Record<string, Cell> = { [columns[0]!]: 'Total', seconds: 0, hours: 0 };
  const lastLine = () =>
    columns.map((column) => ({ ...totals, seconds: totalSeconds, hours: hoursOf(totalSeconds) })[column] ?? null);
  return new Download({
    mediaType: 'text/csv',
    filename: `timesheet_${scope.from}_${scope.to}_by_${groupBy}.csv`,
    body: csvPieces(columns, lines(), lastLine),
  });
}
