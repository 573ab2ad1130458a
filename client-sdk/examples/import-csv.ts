import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { isApiError, type CsvImportReport, type CsvImportsRunInput } from 'work-management-client';
import { connect, connectionHelp } from './terminal/connection.ts';
import { plainJson, plainLine } from './terminal/plain-text.ts';
import { Problem, toId, UsageProblem } from './terminal/problem.ts';
import { onlyOperand, run, type Call } from './terminal/run.ts';
import { count, listProblems } from './terminal/sentences.ts';

const help = `
Imports time and tasks from a file that another service has exported.

  node import-csv.ts [options] --source WHICH --time-zone NAME --date-order ORDER FILE

Options:
  --source WHICH          toggl, clockify, jira or trello
  --time-zone NAME        of the times in the file: that of the person who has exported it
  --date-order ORDER      of the dates in the file: DMY, MDY or YMD
  --person NAME=ID        whom the file means by a name; as often as needed
  --project NAME=ID       which project the file means; as often as needed
  --status NAME=STATUS    what a status or a list is: todo, in_progress, in_review or done; as often as needed
  --skip-errors           leaves out rows with errors, and imports the others
  --yes                   imports; without it the script says only what would be done
  --json                  the report as JSON

For admins. The same file can be imported again at any time: rows that were imported are skipped.
${connectionHelp}`;

const options = {
  source: { type: 'string' },
  'time-zone': { type: 'string' },
  'date-order': { type: 'string' },
  person: { type: 'string', multiple: true },
  project: { type: 'string', multiple: true },
  status: { type: 'string', multiple: true },
  'skip-errors': { type: 'boolean' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

const sources = ['toggl', 'clockify', 'jira', 'trello'] as const;
const orders = ['DMY', 'MDY', 'YMD'] as const;
const statuses = ['todo', 'in_progress', 'in_review', 'done'] as const;

async function main({ values, operands, signal }: Call<typeof options>): Promise<0 | 1> {
  const file = onlyOperand(operands, 'which file to import');
  const { yes = false, json = false, 'time-zone': time_zone } = values;
  if (time_zone === undefined) throw new UsageProblem('--time-zone says where the times of the file are from');
  const input = {
    source: oneOf(sources, values.source, '--source'),
    time_zone,
    date_order: oneOf(orders, values['date-order'], '--date-order'),
    people: toMapping(values.person, '--person', (id) => toId(id, 'An employee')),
    projects: toMapping(values.project, '--project', (id) => toId(id, 'A project')),
    statuses: toMapping(values.status, '--status', (status) => oneOf(statuses, status, 'The status in --status')),
    skip_errors: values['skip-errors'] ?? false,
    csv: await readText(file),
  };
  const connection = await connect(values, signal);
  try {
    const send = (dry_run: boolean) =>
      connection.client.csvImports.run({ ...input, dry_run }, { signal, tryTimeoutMs: 60_000, timeoutMs: 300_000 });
    const foreseen = await send(true);
    const mayRun = yes && (foreseen.errorCount === 0 || input.skip_errors);
    const report = mayRun ? await send(false) : foreseen;
    process.stderr.write(problemsOf(report, input));
    process.stdout.write(
      json ? `${plainJson({ file: basename(file), ...report }, 2)}\n` : textOf(basename(file), report),
    );
    if (!mayRun) process.stderr.write(`Nothing was imported${yes ? whatHelps : ': --yes does it'}.\n`);
    return report.errorCount === 0 ? 0 : 1;
  } catch (error) {
    if (isApiError(error, 'PERIOD_LOCKED', 'DUPLICATE_TASK_LOG'))
      throw new Problem(`${error.message} Somebody else has changed time at the same moment: run this again.`);
    throw error;
  } finally {
    await connection.close();
  }
}

const whatHelps = ': correct these rows, or leave them out with --skip-errors';

function oneOf<const Value extends string>(allowed: readonly Value[], given: string | undefined, what: string): Value {
  const found = allowed.find((one) => one === given);
  if (found === undefined) throw new UsageProblem(`${what} takes one of ${allowed.join(', ')}`);
  return found;
}

function toMapping<Value>(
  given: readonly string[] = [],
  option: string,
  read: (text: string) => Value,
): Record<string, Value> {
  const entries = given.map((text) => {
    const at = text.lastIndexOf('=');
    if (at < 1) throw new UsageProblem(`${option} takes a name of the file and what it means, with = between them`);
    return [text.slice(0, at), read(text.slice(at + 1))] as const;
  });
  return Object.fromEntries(entries);
}

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Problem(`${basename(file)} is not UTF-8. Save it as "CSV UTF-8" in the program that it comes from.`);
  }
}

/** The errors by line, and what else may be wrong. */
function problemsOf(report: CsvImportReport, { date_order: stated }: Pick<CsvImportsRunInput, 'date_order'>): string {
  const { errors, errorCount, fittingDateOrders: orders } = report;
  const problems = errors.map(({ line, column, message }) => ({
    line,
    problem: column === null ? message : `${column} ${message}`,
  }));
  const more = errorCount > errors.length ? `… and ${count(errorCount - errors.length, 'more problem')}\n` : '';
  const hint = orders.length === 0 ? '' : `All dates fit --date-order ${orders.join(' or ')}, and not ${stated}.\n`;
  return listProblems(problems) + more + hint;
}

function textOf(file: string, { rows, created, skipped, projects }: CsvImportReport): string {
  const lines = [
    ['projects', created.projects],
    ['tasks', created.tasks],
    ['logs', created.logs],
    ['imported before', skipped.imported],
    ['without time', skipped.withoutTime],
    ['with errors', skipped.withErrors],
  ] as const;
  const counts = lines.map(([what, number]) => `  ${what.padEnd(15)} ${number.toLocaleString('en').padStart(6)}\n`);
  const places = projects.map(
    ({ name, isNew, tasks, logs }) =>
      `  ${plainLine(name)}${isNew ? ' (new)' : ''}: ${count(tasks, 'new task')}, ${count(logs, 'log')}\n`,
  );
  return `${plainLine(file)}: ${count(rows, 'row')}\n${counts.join('')}${places.join('')}`;
}

await run(help, options, main);
