import type { Employee } from 'work-management-client';
import { readMoment } from '../terminal/local-time.ts';
import { findId } from '../terminal/problem.ts';
import type { Table, TableRow } from '../terminal/read-table.ts';
import type { LineProblem } from '../terminal/sentences.ts';

export const columns = ['task_id', 'employee_id', 'email', 'start', 'end', 'description'] as const;
type Column = (typeof columns)[number];

/** A row of the file as the service takes it. */
export type Entry = {
  line: number;
  taskId: number;
  employeeId: number;
  startTime: string;
  endTime: string;
  description: string | null;
};

export type Skipped = { line: number; reason: string };

export type Entries = {
  entries: Entry[];
  /** Rows that say the same as one before them. */
  skipped: Skipped[];
  problems: LineProblem[];
};

type Reading = {
  employees: readonly Employee[];
  timezone: string | undefined;
  /** Whose time the rows are that name nobody. */
  employee: Employee | undefined;
  now: number;
};

/** Checks every row by all that can be known before it is sent. */
export function readEntries(table: Table<Column>, reading: Reading): Entries {
  const find = employeeFinder(reading.employees);
  const lines = new Map<string, number>();
  const read: Entries = { entries: [], skipped: [], problems: [...table.problems] };
  for (const row of table.rows) {
    const { entry, problems } = readEntry(row, reading, find);
    read.problems.push(...problems.map((problem) => ({ line: row.line, problem })));
    if (!entry) continue;
    const key = `${entry.taskId} ${entry.employeeId} ${entry.startTime}`;
    const earlier = lines.get(key);
    if (earlier === undefined) {
      lines.set(key, row.line);
      read.entries.push(entry);
    } else read.skipped.push({ line: row.line, reason: `same task, person and start as line ${earlier}` });
  }
  return { ...read, problems: read.problems.toSorted((a, b) => a.line - b.line) };
}

type Finder = (idOrEmail: string) => Employee | undefined;

/** Finds employees by their identifier or their address. */
export function employeeFinder(employees: readonly Employee[]): Finder {
  const byId = new Map(employees.map((employee) => [employee._id, employee]));
  const byEmail = new Map(employees.map((employee) => [employee.email, employee]));
  return (given) => byId.get(findId(given) ?? 0) ?? byEmail.get(given.toLowerCase());
}

const dayMs = 24 * 3600 * 1000;
const descriptionMax = 10_000;

function readEntry(
  { line, cells }: TableRow<Column>,
  { timezone, employee: everybody, now }: Reading,
  find: Finder,
): { entry?: Entry; problems: string[] } {
  const problems: string[] = [];
  const taskId = findId(cells.task_id);
  if (taskId === undefined) problems.push(`task_id must be a number, not "${cells.task_id}"`);

  const who = cells.employee_id === '' ? cells.email : cells.employee_id;
  const employee = who === '' ? everybody : find(who);
  if (who === '' && !everybody) problems.push('names nobody: employee_id and email are empty');
  else if (!employee) problems.push(`"${who}" is no employee of this company`);
  else if (!employee.isActive) problems.push(`${employee.name} is not active: only active employees get time`);

  const [start, end] = (['start', 'end'] as const).map((column) => {
    const found = readMoment(cells[column], timezone);
    if (found.problem === undefined) return found.moment;
    problems.push(`${column} ${found.problem}`);
    return undefined;
  });
  if (start && end) {
    const lastsMs = end.getTime() - start.getTime();
    if (lastsMs <= 0) problems.push('end must be after start');
    else if (lastsMs > dayMs) problems.push('end must be at most 24 hours after start');
    if (end.getTime() - now > dayMs) problems.push('end must be at most a day in the future');
  }
  if (cells.description.length > descriptionMax) problems.push('description must have at most 10,000 characters');

  if (problems.length > 0 || !taskId || !employee || !start || !end) return { problems };
  const description = cells.description === '' ? null : cells.description;
  const times = { startTime: start.toISOString(), endTime: end.toISOString() };
  return { entry: { line, taskId, employeeId: employee._id, ...times, description }, problems };
}
