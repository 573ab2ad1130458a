import { isApiError, type Client, type Employee } from 'work-management-client';
import { connect, connectionHelp } from './terminal/connection.ts';
import { checkTimezone } from './terminal/local-time.ts';
import { plainJson, plainLine } from './terminal/plain-text.ts';
import { Problem, toId, UsageProblem } from './terminal/problem.ts';
import { showProgress } from './terminal/progress.ts';
import { readTable } from './terminal/read-table.ts';
import { isStop, onlyOperand, run, type Call } from './terminal/run.ts';
import { count, explain, listProblems, type LineProblem } from './terminal/sentences.ts';
import { columns, employeeFinder, readEntries, type Entry } from './time-logs/read-entries.ts';
import { reportAsJson, reportAsText } from './time-logs/report.ts';
import { batchesOf, newOutcome, sendBatches, type Sending } from './time-logs/send-entries.ts';

const help = `
Imports time logs from a CSV file.

  node import-time-logs.ts [options] FILE        FILE may be - for the standard input

Columns, by the names in its first line:
  task_id                 the task
  employee_id or email    whose time it is; neither is needed with --employee
  start, end              2026-03-02T09:00:00+01:00, or local times such as 2026-03-02 09:00 with --timezone
  description             what was done; may be missing

Options:
  --column NAME=THEIRS    what the file calls a column, as in --column task_id=Ticket; as often as needed
  --employee WHO          whose time the rows are that name nobody: an id or an e-mail address
  --timezone NAME         of times without an offset, such as Europe/Berlin
  --dry-run               checks every row, and whether the tasks are there, and sends nothing
  --batch-size N          rows sent at once, 1,000 unless given
  --json                  the report as JSON

All rows are checked first, and nothing is sent where one is wrong. What the service has already (same task, person and start)
is skipped, so the same file can be imported again at any time: after a crash, or with more rows.
${connectionHelp}`;

const options = {
  column: { type: 'string', multiple: true },
  employee: { type: 'string' },
  timezone: { type: 'string' },
  'dry-run': { type: 'boolean' },
  'batch-size': { type: 'string' },
  json: { type: 'boolean' },
} as const;

async function main({ values, operands, signal }: Call<typeof options>): Promise<0 | 1> {
  const file = onlyOperand(operands, 'which file to import');
  const { timezone, employee: who, json = false, 'dry-run': isDry = false } = values;
  checkTimezone(timezone);
  const size = toBatchSize(values['batch-size']);
  const table = await readTable(file, {
    columns,
    required: [['task_id'], ['start'], ['end'], ...(who === undefined ? [['employee_id', 'email'] as const] : [])],
    renames: values.column,
  });

  const connection = await connect(values, signal);
  const { client } = connection;
  try {
    const { employees } = await client.employees.list({}, { signal });
    const employee = who === undefined ? undefined : getEmployee(employees, who);
    const read = readEntries(table, { employees, timezone, employee, now: Date.now() });
    const problems = isDry
      ? [...read.problems, ...(await findMissingTasks(client, read.entries, signal))]
      : read.problems;
    if (problems.length > 0) return refuse(table.name, problems, json);
    if (isDry) return tell(table.name, read.entries, json);
    const batches = batchesOf(read.entries, size);
    const sending = { client, outcome: newOutcome(read.skipped), signal };
    return await send(sending, batches, {
      file: table.name,
      rows: table.rows.length,
      employees,
      json,
      url: values.url,
    });
  } finally {
    await connection.close();
  }
}

function toBatchSize(text = '1000'): number {
  const size = toId(text, '--batch-size');
  if (size > 1_000) throw new UsageProblem('--batch-size must be at most 1000');
  return size;
}

/** Says what is wrong with the file. */
function refuse(file: string, problems: readonly LineProblem[], json: boolean): 1 {
  if (json) process.stdout.write(`${plainJson({ file, status: 'invalid', problems }, 2)}\n`);
  process.stderr.write(`${listProblems(problems)}Nothing was sent. Correct the file and run this again.\n`);
  return 1;
}

/** Says what would be done. */
function tell(file: string, entries: readonly Entry[], json: boolean): 0 {
  const people = new Set(entries.map(({ employeeId }) => employeeId)).size;
  const whose = people === 1 ? '1 person' : `${people} people`;
  const text = `${plainLine(file)}: ${count(entries.length, 'row')} of ${whose} can be sent; nothing was.`;
  process.stdout.write(
    json ? `${plainJson({ file, status: 'checked', rows: entries.length, people }, 2)}\n` : `${text}\n`,
  );
  return 0;
}

type About = { file: string; rows: number; employees: readonly Employee[]; json: boolean; url: string | undefined };

/** Sends all there is, and reports what became of it, also where it was cut off. */
async function send(sending: Sending, batches: Entry[][], { json, url, ...about }: About): Promise<0 | 1> {
  const { client, outcome, signal } = sending;
  const total = batches.flat().length;
  const progress = showProgress(total, 'row', signal);
  let failure: unknown;
  try {
    await sendBatches(sending, batches, progress.update);
  } catch (error) {
    failure = error;
  }
  progress.clear();
  const isWhole = failure === undefined;
  const status = !isWhole ? 'stopped' : outcome.refused.length > 0 ? 'partly' : 'done';
  const projects = isWhole
    ? await nameProjects(client, [...outcome.exceeded.keys()], signal)
    : new Map<number, string>();
  const report = { ...about, status, outcome, projects } as const;
  process.stderr.write(listProblems(outcome.refused));
  process.stdout.write(json ? reportAsJson(report) : reportAsText(report));
  if (isWhole) return status === 'done' ? 0 : 1;
  // Where no answer came, the rows under way may be stored or not.
  const stored = `${isStop(failure, signal) ? '' : 'At least '}${outcome.stored.toLocaleString('en')} of ${count(total, 'row')}`;
  const next = 'Run the same command again to go on: what is there already is skipped.';
  throw new Problem(`${explain(failure, url)}\n${stored} are stored. ${next}`);
}

function getEmployee(employees: readonly Employee[], who: string): Employee {
  const found = employeeFinder(employees)(who);
  if (!found) throw new UsageProblem(`--employee names nobody of this company: "${who}"`);
  return found;
}

/** Rows whose task is not there, which the service would refuse. */
async function findMissingTasks(
  client: Client,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<LineProblem[]> {
  const problems: LineProblem[] = [];
  for (const [task_id, rows] of Map.groupBy(entries, ({ taskId }) => taskId)) {
    try {
      // There may be more of them than requests in a minute.
      await client.tasks.get({ task_id }, { signal, timeoutMs: 300_000 });
    } catch (error) {
      if (!isApiError(error, 'NOT_FOUND')) throw error;
      problems.push(...rows.map(({ line }) => ({ line, problem: `task_id ${task_id} names nothing in your company` })));
    }
  }
  return problems.toSorted((a, b) => a.line - b.line);
}

async function nameProjects(client: Client, ids: readonly number[], signal: AbortSignal): Promise<Map<number, string>> {
  const projects = await Promise.all(ids.map((project_id) => client.projects.get({ project_id }, { signal })));
  return new Map(projects.map(({ _id, name }) => [_id, name]));
}

await run(help, options, main);
