import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { isApiError, type Client, type TimesheetsGetInput } from 'work-management-client';
import { connect, connectionHelp } from './terminal/connection.ts';
import { plainJson } from './terminal/plain-text.ts';
import { findId, Problem, UsageProblem } from './terminal/problem.ts';
import { run, type Call } from './terminal/run.ts';

const help = `
Writes the logged time of a month to a CSV file.

  node export-timesheet.ts [options]

Options:
  --month YYYY-MM         the month; the last one that is over unless given
  --from DAY --to DAY     another range of days, both included, as YYYY-MM-DD
  --group-by WHAT         rows by day, week, project, task or employee; day unless given
  --user WHO              of one person only: an id or an e-mail address
  --project WHICH         of one project only: an id or a name
  --output FILE           the file, or - for the standard output; named after what is in it unless given
  --force                 replaces the file
  --json                  JSON instead of CSV

The file appears when it is whole. Admins and team leaders get everybody, others themselves.
${connectionHelp}`;

const options = {
  month: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  'group-by': { type: 'string' },
  user: { type: 'string' },
  project: { type: 'string' },
  output: { type: 'string' },
  force: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

const groupings = ['day', 'week', 'project', 'task', 'employee'] as const;

async function main({ values, operands, signal }: Call<typeof options>): Promise<0 | 1> {
  if (operands.length > 0) throw new UsageProblem(`"${operands[0]}" is no option`);
  const { from, to } = toRange(values, new Date());
  const groupBy = groupings.find((one) => one === (values['group-by'] ?? 'day'));
  if (groupBy === undefined) throw new UsageProblem(`--group-by takes one of ${groupings.join(', ')}`);

  const connection = await connect(values, signal);
  const { client } = connection;
  try {
    const company_id = connection.companyId;
    const wanted: TimesheetsGetInput = { company_id, from, to, groupBy };
    if (values.user !== undefined) wanted.userId = await findEmployeeId(client, company_id, values.user, signal);
    if (values.project !== undefined)
      wanted.projectId = await findProjectId(client, company_id, values.project, signal);

    const sheet =
      values.json === true ? await jsonOf(client, wanted, signal) : await client.timesheets.csv(wanted, { signal });
    const output = values.output ?? sheet.filename;
    if (output === '-') await write(sheet, process.stdout, signal);
    else {
      await writeWhole(sheet, output, { replace: values.force === true, signal });
      process.stderr.write(`${from} to ${to} by ${groupBy}: ${output}\n`);
    }
    return 0;
  } finally {
    await connection.close();
  }
}

type Sheet = AsyncIterable<Uint8Array> & { filename: string };

async function jsonOf(client: Client, wanted: TimesheetsGetInput, signal: AbortSignal): Promise<Sheet> {
  const timesheet = await client.timesheets.get(wanted, { signal });
  const { from, to, groupBy } = timesheet;
  return {
    filename: `timesheet_${from}_${to}_by_${groupBy}.json`,
    async *[Symbol.asyncIterator]() {
      yield new TextEncoder().encode(`${plainJson(timesheet, 2)}\n`);
    },
  };
}

/** Writes a file that is there whole or not at all. */
async function writeWhole(
  sheet: Sheet,
  output: string,
  { replace, signal }: { replace: boolean; signal: AbortSignal },
): Promise<void> {
  const refuseToReplace = (): void => {
    if (!replace && existsSync(output)) throw new Problem(`${output} is there already. --force replaces it.`);
  };
  refuseToReplace();
  const unfinished = `${output}.${process.pid}.part`;
  try {
    const stream = createWriteStream(unfinished, { flags: 'wx' });
    await write(sheet, stream, signal);
    stream.end();
    await finished(stream);
    refuseToReplace();
    await rename(unfinished, output);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Passes on what comes, as fast as it is taken. */
async function write(sheet: Sheet, stream: NodeJS.WritableStream, signal: AbortSignal): Promise<void> {
  let failure: Error | undefined;
  stream.on('error', (error) => (failure = error));
  try {
    for await (const piece of sheet) {
      if (!stream.write(piece)) await drained(stream);
      signal.throwIfAborted();
      if (failure) throw failure;
    }
  } catch (error) {
    throw isApiError(error, 'NETWORK_ERROR')
      ? new Problem('The connection broke before all was there. Run this again.')
      : error;
  }
}

async function drained(stream: NodeJS.WritableStream): Promise<void> {
  await new Promise<void>((resolve) => {
    stream.once('drain', resolve);
    stream.once('error', () => resolve());
  });
}

/** The days that are meant: those given, those of the month, or those of the last month. */
function toRange(
  { month, from, to }: { month?: string | undefined; from?: string | undefined; to?: string | undefined },
  now: Date,
): { from: string; to: string } {
  if (from !== undefined || to !== undefined) {
    if (month !== undefined) throw new UsageProblem('Give --month, or --from and --to');
    if (from === undefined || to === undefined) throw new UsageProblem('--from and --to go together');
    return { from: toDay(from), to: toDay(to) };
  }
  const last = new Date(Date.UTC(now.getFullYear(), now.getMonth() - 1)).toISOString().slice(0, 7);
  const first = `${month ?? last}-01`;
  if (!isDay(first)) throw new UsageProblem(`--month takes a month such as 2026-03, not "${month}"`);
  return { from: first, to: lastDayOf(first) };
}

/** The last day of the month that begins on the given one. */
function lastDayOf(first: string): string {
  const next = Date.UTC(Number(first.slice(0, 4)), Number(first.slice(5, 7)), 1);
  return new Date(next - 1).toISOString().slice(0, 10);
}

function toDay(text: string): string {
  if (isDay(text)) return text;
  throw new UsageProblem(`--from and --to take a day such as 2026-03-01, not "${text}"`);
}

/** February 30 is none, although a Date takes it for a day in March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

async function findEmployeeId(client: Client, company_id: number, who: string, signal: AbortSignal): Promise<number> {
  const { employees } = await client.employees.list({ company_id }, { signal });
  const found = employees.find(({ _id, email }) => _id === findId(who) || email === who.toLowerCase());
  if (!found) throw new Problem(`Nobody in this company has the id or the e-mail address "${who}".`);
  return found._id;
}

async function findProjectId(client: Client, company_id: number, which: string, signal: AbortSignal): Promise<number> {
  const found: number[] = [];
  for await (const { _id, name } of client.projects.list({ company_id }, { signal }))
    if (_id === findId(which) || name === which) found.push(_id);
  const [projectId, ...others] = found;
  if (projectId === undefined) throw new Problem(`No project of this company has the id or the name "${which}".`);
  if (others.length > 0)
    throw new Problem(`Several projects are called "${which}": give the id, one of ${found.join(', ')}.`);
  return projectId;
}

await run(help, options, main);
