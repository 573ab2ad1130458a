import { hours } from '../projects/schemas.ts';
import { findTimeIssues } from '../task-logs/times.ts';
import { CellProblem, quote } from './cell-problem.ts';
import { lengths, toKey, type Drafts, type Reading } from './drafts.ts';
import { parseTimestamp } from './local-time.ts';
import { checkText, type Columns, type Row } from './read-table.ts';
import type { RowReader } from './row-reader.ts';
import { readCompletion, readDueDate } from './task-dates.ts';

/* Issues of Jira, exported with all fields: a row is a task, with the work that was logged on it in columns of one name. */

type Field =
  | 'key'
  | 'summary'
  | 'projectName'
  | 'projectKey'
  | 'status'
  | 'statusCategory'
  | 'assignee'
  | 'assigneeId'
  | 'reporter'
  | 'reporterId'
  | 'creator'
  | 'creatorId'
  | 'dueDate'
  | 'estimate'
  | 'description'
  | 'resolved'
  | 'updated'
  | 'work';

export const jiraColumns: Columns<Field> = {
  key: { names: ['Issue key'], isRequired: true },
  summary: { names: ['Summary'], isRequired: true },
  projectName: { names: ['Project name'] },
  projectKey: { names: ['Project key'] },
  status: { names: ['Status'], isRequired: true },
  statusCategory: { names: ['Status Category'] },
  assignee: { names: ['Assignee'] },
  assigneeId: { names: ['Assignee Id'] },
  reporter: { names: ['Reporter'] },
  reporterId: { names: ['Reporter Id'] },
  creator: { names: ['Creator'] },
  creatorId: { names: ['Creator Id'] },
  dueDate: { names: ['Due date'] },
  estimate: { names: ['Original estimate'] },
  description: { names: ['Description'] },
  resolved: { names: ['Resolved'] },
  updated: { names: ['Updated'] },
  work: { names: ['Log Work'], isRepeated: true },
};

/** Work names its author by an account: the name of that account may be in other columns of the file. */
function namesOfAccounts(rows: readonly Row<Field>[]): Map<string, string> {
  const pairs = [
    ['assigneeId', 'assignee'],
    ['reporterId', 'reporter'],
    ['creatorId', 'creator'],
  ] as const;
  const known = rows.flatMap(({ cells }) =>
    pairs.map(([id, name]) => [cells[id]?.[0] ?? '', cells[name]?.[0] ?? ''] as const),
  );
  return new Map(known.filter(([id, name]) => id !== '' && name !== '' && name.length <= lengths.person));
}

export function createIssueReader(rows: readonly Row<Field>[]) {
  const names = namesOfAccounts(rows);

  /** Adds what a row says to the drafts. */
  return (row: RowReader<Field>, reading: Reading, drafts: Drafts): void => {
    const issue = row.needed('key', lengths.person);
    const project = row.needed(row.cell('projectName') === '' ? 'projectKey' : 'projectName', lengths.project);
    const summary = row.needed('summary', lengths.title);
    if (issue === undefined || project === undefined || summary === undefined) return;
    const key = toKey('task', issue);
    if (drafts.tasks.has(key)) return row.refuse('key', `${quote(issue)} is there in an earlier row`, 'duplicate');
    const title = `${issue} ${summary}`;
    if (title.length > lengths.title)
      return row.refuse('summary', `has more than ${lengths.title} characters with its key`, 'too_big');
    const status = readStatus(row, reading);
    drafts.tasks.set(key, {
      line: row.line,
      key,
      project,
      title,
      description: row.text('description', lengths.taskDescription),
      status: status ?? 'todo',
      ownerId:
        row.cell('assignee') === ''
          ? null
          : (row.parse('assignee', (name) => reading.findPerson([name]), lengths.person) ?? null),
      collaboratorIds: [],
      dueDate: readDueDate(row, reading),
      estimatedHours: readEstimate(row),
      completedAt: status === 'done' ? readCompletion(row, ['resolved', 'updated'], reading) : null,
    });
    for (const cell of row.all('work')) readWork(row, cell);

    function readWork(of: RowReader<Field>, cell: string): void {
      const found = of.read('work', () => parseWork(cell, reading, names));
      if (!found) return;
      const { author, employeeId, start, seconds, comment } = found;
      if (seconds === 0) {
        drafts.emptyLines.add(of.line);
        return;
      }
      const end = new Date(start.getTime() + seconds * 1000);
      const [problem] = findTimeIssues({ start, end }, reading.now, { start: [], end: [] });
      if (problem) return of.refuse('work', `${quote(cell)}: its end ${problem.message}`, problem.code);
      const id = toKey('log', issue!, author.toLowerCase(), start.toISOString());
      const log = { line: of.line, column: of.nameOf('work'), key: id, task: key, employeeId, start, end };
      drafts.logs.push({ ...log, description: comment || null, billable: undefined });
    }
  };
}

function readStatus(row: RowReader<Field>, { statusOf }: Reading) {
  return row.read('status', () => {
    const status = statusOf([row.cell('status'), row.cell('statusCategory')]);
    if (!status)
      throw new CellProblem(
        `is not known, ${quote(row.cell('status'))}: say in \`statuses\` what it is`,
        'invalid_value',
      );
    return status;
  });
}

/** Of seconds. */
function readEstimate(row: RowReader<Field>): number | null {
  const text = row.cell('estimate');
  if (text === '') return null;
  const parsed = /^\d{1,12}$/.test(text) ? hours.safeParse(Number(text) / 3600).data : undefined;
  return parsed ?? row.refuse('estimate', `is no number of seconds: ${quote(text)}`, 'invalid_format') ?? null;
}

/** `comment;date;author;seconds`. The comment may have semicolons. */
function parseWork(cell: string, reading: Reading, names: ReadonlyMap<string, string>) {
  const [, comment = '', date = '', author = '', seconds = ''] =
    /^(?:(.*);)?([^;]+);([^;]*);(\d{1,9})$/s.exec(cell) ?? [];
  if (seconds === '') throw new CellProblem(`is not "comment;date;author;seconds": ${quote(cell)}`);
  checkText(date, lengths.parsed);
  checkText(author, lengths.person);
  const moments = [
    parseTimestamp(date)?.getTime() ?? reading.zone.momentsAt(reading.dates.readDayTime(date.trim())),
  ].flat();
  if (moments.length !== 1) {
    const problem = moments.length === 0 ? 'does not exist' : 'is there twice';
    throw new CellProblem(
      `${quote(date)} ${problem} in ${reading.zone.name}: the clocks were changed`,
      'invalid_value',
    );
  }
  return {
    comment: checkText(comment.trim(), lengths.logDescription),
    author,
    employeeId: reading.findPerson([author, names.get(author) ?? '']),
    start: new Date(moments[0]!),
    seconds: Number(seconds),
  };
}
