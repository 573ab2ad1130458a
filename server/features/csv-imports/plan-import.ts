import type { Db } from '../../../db/open.ts';
import { invalid } from '../../errors/errors.ts';
import type { Drafts, LogDraft, TaskDraft } from './drafts.ts';
import { findTargets, type Asked, type Target } from './find-targets.ts';
import { inParts } from './in-parts.ts';
import { findImported, findLockedDays, findLogged, type LockedDay } from './queries.ts';
import type { RowError } from './row-reader.ts';

/** What an import does. */
export type Plan = {
  /** The projects of new tasks that are there already, by name. */
  projectIds: ReadonlyMap<string, number>;
  /** The names of projects to create. */
  newProjects: string[];
  /** Tasks to create, by reference. */
  newTasks: Map<string, TaskDraft>;
  /** Tasks that are there already, by reference. */
  targets: ReadonlyMap<string, Target>;
  newLogs: LogDraft[];
  errors: RowError[];
  lockedDays: string[];
  skipped: { imported: number; withoutTime: number; withErrors: number };
};

const projectsMax = 500;

/** Compares drafts with what the company has. A real run locks the tasks that get time. */
export async function planImport(db: Db, asked: Asked, drafts: Drafts): Promise<Plan> {
  const errors = [...drafts.errors];
  const refuse: Refuse = (line, column, message, code) => void errors.push({ line, column, message, code });
  const left = await findLeft(db, asked, { ...drafts, logs: withoutRepeated(drafts.logs, refuse) });
  const { projectIds, targets, ambiguous } = await findTargets(db, asked, left);
  refuseAmbiguous(left, ambiguous, refuse);
  await refuseLogged(db, asked.companyId, { ...left, targets }, refuse);
  const lockedDays = await refuseLocked(db, asked.companyId, left.logs, refuse);

  const wrong = new Set(errors.map(({ line }) => line));
  const newLogs = left.logs.filter(({ line }) => !wrong.has(line));
  const named = new Set(newLogs.map(({ task }) => task));
  const isCreated = (ref: string, task: TaskDraft): boolean =>
    task.key === null ? named.has(ref) && !targets.has(ref) : !wrong.has(task.line);
  const newTasks = new Map([...left.tasks].filter(([ref, task]) => isCreated(ref, task)));
  const names = new Set([...newTasks.values()].map(({ project }) => project));
  if (new Set([...names, ...[...targets.values()].map(({ project }) => project)]).size > projectsMax)
    throw invalid(['csv'], `has more than ${projectsMax} projects: split it`, 'too_big');
  return {
    projectIds,
    newProjects: [...names].filter((name) => !projectIds.has(name)),
    newTasks,
    targets,
    newLogs,
    errors: errors.toSorted((a, b) => a.line - b.line),
    lockedDays,
    skipped: countSkipped({ newTasks, newLogs, wrong, importedLines: left.importedLines, empty: drafts.emptyLines }),
  };
}

type Left = {
  tasks: Map<string, TaskDraft>;
  logs: LogDraft[];
  /** Tasks that were imported and get more time, by reference. */
  imported: Map<string, number>;
  importedLines: number[];
};

/** What was not imported before. A task that is known by its title alone is left where it gets time. */
async function findLeft(
  db: Db,
  { companyId, source }: Asked,
  { tasks, logs }: Pick<Drafts, 'tasks' | 'logs'>,
): Promise<Left> {
  const all = [...tasks.values(), ...logs];
  const imported = await findImported(
    db,
    companyId,
    source,
    all.flatMap(({ key }) => key ?? []),
  );
  const isNew = ({ key }: { key: string | null }): boolean => key === null || !imported.has(key);
  const logsLeft = logs.filter(isNew);
  const withTime = new Set(logsLeft.map(({ task }) => task));
  return {
    tasks: new Map([...tasks].filter(([ref, task]) => isNew(task) && (task.key !== null || withTime.has(ref)))),
    logs: logsLeft,
    imported: new Map([...imported].filter(([key]) => withTime.has(key))),
    importedLines: all.filter((one) => !isNew(one)).map(({ line }) => line),
  };
}

type Counted = Pick<Plan, 'newTasks' | 'newLogs'> & Pick<Left, 'importedLines'>;

/** Counts rows that become nothing, each once. */
function countSkipped({
  newTasks,
  newLogs,
  wrong,
  importedLines,
  empty,
}: Counted & { wrong: ReadonlySet<number>; empty: ReadonlySet<number> }): Plan['skipped'] {
  const keyed = [...newTasks.values()].filter(({ key }) => key !== null);
  const done = new Set([...wrong, ...[...keyed, ...newLogs].map(({ line }) => line)]);
  const imported = new Set(importedLines.filter((line) => !done.has(line)));
  const withoutTime = [...empty].filter((line) => !done.has(line) && !imported.has(line)).length;
  return { imported: imported.size, withoutTime, withErrors: wrong.size };
}

type Refuse = (line: number, column: string | null, message: string, code: RowError['code']) => void;

/** A person, as the service or the file names them, has one log of a task with a start: the first of the file counts. */
function withoutRepeated(logs: readonly LogDraft[], refuse: Refuse): LogDraft[] {
  const lines = new Map<string, number>();
  return logs.filter(({ line, column, key, task, employeeId, start }) => {
    const same = `${employeeId} ${start.getTime()} ${task}`;
    const earlier = lines.get(same) ?? lines.get(key);
    const message = `is that of line ${earlier}, on the same task and of the same person or address`;
    if (earlier === undefined) lines.set(same, line).set(key, line);
    else refuse(line, column, message, 'duplicate');
    return earlier === undefined;
  });
}

function refuseAmbiguous(
  { tasks, logs }: Pick<Left, 'tasks' | 'logs'>,
  ambiguous: ReadonlyMap<string, string>,
  refuse: Refuse,
): void {
  const keyed = [...tasks].filter(([, { key }]) => key !== null);
  const named = [...keyed, ...logs.map((log) => [log.task, log] as const)].filter(([ref]) => ambiguous.has(ref));
  const byLine = new Map(named.map(([ref, { line }]) => [line, ambiguous.get(ref)!]));
  for (const [line, message] of byLine) refuse(line, null, message, 'invalid_value');
}

async function refuseLogged(
  db: Db,
  companyId: number,
  { tasks, logs, targets }: Pick<Left, 'tasks' | 'logs'> & Pick<Plan, 'targets'>,
  refuse: Refuse,
): Promise<void> {
  for (const { line, column, task } of logs)
    if (!targets.has(task) && !tasks.has(task))
      refuse(line, column, 'is on a task that was deleted just now', 'not_found');
  const onTasks = logs.flatMap((log) => {
    const target = targets.get(log.task);
    return target ? [{ ...log, taskId: target.taskId }] : [];
  });
  for (const { line, column } of await findLogged(db, companyId, onTasks))
    refuse(line, column, 'is that of a log that this person has on this task already', 'duplicate');
}

/** Returns the locked days. Years of them may be somebody's, so those of a log are searched for. */
async function refuseLocked(db: Db, companyId: number, logs: readonly LogDraft[], refuse: Refuse): Promise<string[]> {
  const locked = logs.length === 0 ? [] : await findLockedDays(db, companyId, logs);
  const byEmployee = Map.groupBy(locked, (day) => day.employee_id);
  for await (const part of inParts(logs))
    for (const { line, column, employeeId, start, end } of part) {
      const days = byEmployee.get(employeeId) ?? [];
      for (let at = firstThatEndsAfter(start, days); at < days.length && days[at]!.day_start < end; at += 1)
        refuse(line, column, `is on ${days[at]!.day}, which is locked`, 'locked');
    }
  return locked.map(({ day }) => day);
}

/** The place of a day in days by their start. */
function firstThatEndsAfter(moment: Date, days: readonly LockedDay[]): number {
  let [from, to] = [0, days.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (days[middle]!.day_end > moment) to = middle;
    else from = middle + 1;
  }
  return from;
}
