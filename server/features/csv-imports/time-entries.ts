import { findTimeIssues } from '../task-logs/times.ts';
import { CellProblem, quote } from './cell-problem.ts';
import { lengths, toKey, type Drafts, type LogDraft, type Reading, type TaskDraft } from './drafts.ts';
import { parseDuration, parseTime, type LocalTime } from './local-time.ts';
import type { Columns } from './read-table.ts';
import type { RowReader } from './row-reader.ts';

/* Detailed reports of Toggl Track and Clockify: a row is time that somebody spent on a task. */

type Field =
  | 'person'
  | 'email'
  | 'client'
  | 'project'
  | 'task'
  | 'description'
  | 'billable'
  | 'startDate'
  | 'startTime'
  | 'endDate'
  | 'endTime'
  | 'duration'
  | 'decimalDuration';

export const timeColumns: Columns<Field> = {
  person: { names: ['User', 'Member'] },
  email: { names: ['Email'] },
  client: { names: ['Client'] },
  project: { names: ['Project'], isRequired: true },
  task: { names: ['Task'] },
  description: { names: ['Description'] },
  billable: { names: ['Billable'] },
  startDate: { names: ['Start date'], isRequired: true },
  startTime: { names: ['Start time'], isRequired: true },
  endDate: { names: ['End date', 'Stop date'] },
  endTime: { names: ['End time', 'Stop time'] },
  duration: { names: ['Duration', 'Duration (h)'] },
  decimalDuration: { names: ['Duration (decimal)'] },
};

/** Where time goes that names no project, or no task. */
const noProject = 'Without project';
const noTask = 'Without task';

/** Adds what a row says to the drafts. */
export function readTimeEntry(row: RowReader<Field>, reading: Reading, drafts: Drafts): void {
  const project = row.text('project', lengths.project);
  const client = row.text('client', lengths.project);
  const title = row.text('task', lengths.title) ?? noTask;
  const description = row.text('description', lengths.logDescription);
  const who = [row.text('email', lengths.person) ?? '', row.text('person', lengths.person) ?? ''];
  const employeeId = row.read(row.cell('email') === '' ? 'person' : 'email', () => reading.findPerson(who));
  const billable = row.parse('billable', parseFlag);
  const span = readSpan(row, reading);
  const name = row.read('project', () => nameProject(project ?? noProject, client));
  if (row.isWrong() || employeeId === undefined || !span || name === undefined) return;
  if (span.end.getTime() === span.start.getTime()) {
    drafts.emptyLines.add(row.line);
    return;
  }
  const target = reading.projectName(name);
  const task = JSON.stringify([target, title]);
  if (!drafts.tasks.has(task)) drafts.tasks.set(task, newTask(row.line, target, title));
  const [email, person] = who as [string, string];
  const key = toKey('log', (email || person).toLowerCase(), name, title, span.start.toISOString());
  const log: LogDraft = {
    line: row.line,
    column: row.nameOf('startTime'),
    key,
    task,
    employeeId,
    description,
    billable,
    ...span,
  };
  drafts.logs.push(log);
}

/** Clients are not kept, so their projects of the same name are told apart by them. */
function nameProject(project: string, client: string | null): string {
  const name = client === null ? project : `${project} (${client})`;
  if (name.length > lengths.project)
    throw new CellProblem(`has more than ${lengths.project} characters with its client`, 'too_big');
  return name;
}

const newTask = (line: number, project: string, title: string): TaskDraft => ({
  line,
  key: null,
  project,
  title,
  description: null,
  status: 'in_progress',
  ownerId: null,
  collaboratorIds: [],
  dueDate: null,
  estimatedHours: null,
  completedAt: null,
});

const flags = new Map([
  ['', undefined],
  ...['yes', 'true', '1'].map((text) => [text, true] as const),
  ...['no', 'false', '0'].map((text) => [text, false] as const),
]);

function parseFlag(text: string): boolean | undefined {
  if (!flags.has(text.toLowerCase())) throw new CellProblem(`is neither Yes nor No: ${quote(text)}`, 'invalid_value');
  return flags.get(text.toLowerCase());
}

type Span = { start: Date; end: Date };

/** Durations are rounded to the minute, or to hundredths of an hour. */
const toleranceMs = 60_000;

function readSpan(row: RowReader<Field>, reading: Reading): Span | undefined {
  const startTime = readTime(row, reading, 'startDate', 'startTime');
  const hasEnd = row.cell('endDate') !== '' && row.cell('endTime') !== '';
  const endTime = hasEnd ? readTime(row, reading, 'endDate', 'endTime') : null;
  const duration = readDuration(row);
  if (!startTime || endTime === undefined || duration === undefined) return undefined;
  const span = row.read('startTime', () => toSpan(row, reading, { startTime, endTime, duration }));
  // What lasts no time at all is left out.
  if (!span || span.start.getTime() === span.end.getTime()) return span;
  const [issue] = findTimeIssues(span, reading.now, { start: [], end: [] });
  return issue ? row.refuse(hasEnd ? 'endTime' : 'startTime', issue.message, issue.code) : span;
}

function readTime(
  row: RowReader<Field>,
  { dates }: Reading,
  dateField: Field,
  timeField: Field,
): LocalTime | undefined {
  const day = row.parse(dateField, dates.readDay);
  const seconds = row.parse(timeField, parseTime);
  return day === undefined || seconds === undefined ? undefined : { day, seconds };
}

/** The more exact one that the row has. */
const durationField = (row: RowReader<Field>): Field => (row.cell('duration') === '' ? 'decimalDuration' : 'duration');

/** In milliseconds; null where the row has none, undefined where it cannot be read. */
function readDuration(row: RowReader<Field>): number | null | undefined {
  const field = durationField(row);
  if (row.cell(field) === '') return null;
  return row.parse(field, (text) => parseDuration(text) * 1000);
}

type Times = { startTime: LocalTime; endTime: LocalTime | null; duration: number | null };

/** Throws problems of its start. Where clocks showed a time twice, the duration decides which is meant. */
function toSpan(row: RowReader<Field>, { zone }: Reading, { startTime, endTime, duration }: Times): Span | undefined {
  const starts = momentsOf(startTime, zone);
  if (endTime === null && duration === null)
    throw new CellProblem(
      'has neither an end nor a duration: stop what is still running, and export it again',
      'required',
    );
  if (endTime === null) {
    if (starts.length > 1) throw ambiguous(zone);
    return { start: new Date(starts[0]!), end: new Date(starts[0]! + duration!) };
  }
  const ends = row.read('endTime', () => momentsOf(endTime, zone));
  if (!ends) return undefined;
  const spans = starts.flatMap((start) => ends.map((end) => ({ start, end }))).filter(({ start, end }) => end >= start);
  if (spans.length === 0) return row.refuse('endTime', 'must be after the start', 'out_of_range');
  const fits = ({ start, end }: (typeof spans)[number]) =>
    duration === null || Math.abs(end - start - duration) <= toleranceMs;
  const [span, ...others] = spans.filter(fits);
  if (others.length > 0) throw ambiguous(zone);
  if (span) return { start: new Date(span.start), end: new Date(span.end) };
  const minutes = Math.round((spans[0]!.end - spans[0]!.start) / 60_000);
  const field = durationField(row);
  const message = `is ${quote(row.cell(field))}, and ${minutes} minutes are between start and end`;
  return row.refuse(field, message, 'mismatch');
}

function momentsOf(time: LocalTime, zone: Reading['zone']): number[] {
  const moments = zone.momentsAt(time);
  if (moments.length === 0)
    throw new CellProblem(
      `does not exist on ${time.day} in ${zone.name}: the clocks were put forward`,
      'invalid_value',
    );
  return moments;
}

const ambiguous = (zone: Reading['zone']) =>
  new CellProblem(
    `is there twice in ${zone.name}, as the clocks were put back, and the duration does not say which is meant`,
    'invalid_value',
  );
