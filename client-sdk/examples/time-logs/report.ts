import type { Employee } from 'work-management-client';
import { plainJson, plainLine } from '../terminal/plain-text.ts';
import { count, linesOf } from '../terminal/sentences.ts';
import type { Outcome } from './send-entries.ts';

/** `partly`: rows were refused. `stopped`: some may not have been sent. */
type Status = 'done' | 'partly' | 'stopped';

export type Report = {
  file: string;
  status: Status;
  rows: number;
  outcome: Outcome;
  employees: readonly Employee[];
  /** Names of the projects over their allocation. */
  projects: ReadonlyMap<number, string>;
};

/** The report for programs. */
export function reportAsJson({ file, status, rows, outcome, ...names }: Report): string {
  const { created } = outcome;
  const [skipped, refused] = [byLine(outcome.skipped), byLine(outcome.refused)];
  const { days, exceededProjects } = namedOf(outcome, names);
  return `${plainJson({ file, status, rows, created, skipped, refused, days, exceededProjects }, 2)}\n`;
}

/** The report for people. */
export function reportAsText({ file, rows, outcome, ...names }: Report): string {
  const { created, skipped, refused } = outcome;
  const tell = (what: string, lines: number[]) =>
    `  ${what.padEnd(10)}${lines.length.toLocaleString('en').padStart(8)}${lines.length > 0 ? `   ${linesOf(lines)}` : ''}\n`;
  const { days, exceededProjects } = namedOf(outcome, names);
  const width = Math.max(0, ...days.map(({ name }) => name.length));
  const dayLines = days
    .slice(0, daysMax)
    .map(
      ({ name, date, workingHours }) => `  ${name.padEnd(width)}  ${date}  ${workingHours.toFixed(2).padStart(6)}\n`,
    );
  if (days.length > daysMax)
    dayLines.push(`  … and ${count(days.length - daysMax, 'more day')}; --json has them all\n`);
  const projectLines = exceededProjects.map(
    ({ projectId, name, loggedHours, allocatedHours }) =>
      `  ${name} (${projectId}): ${loggedHours} of ${allocatedHours} hours\n`,
  );
  return [
    `${plainLine(file)}: ${count(rows, 'row')}\n`,
    `  ${'created'.padEnd(10)}${created.toLocaleString('en').padStart(8)}\n`,
    tell(
      'skipped',
      skipped.map(({ line }) => line),
    ),
    tell(
      'refused',
      refused.map(({ line }) => line),
    ),
    ...(dayLines.length > 0 ? ['\nWorking hours of these days:\n', ...dayLines] : []),
    ...(projectLines.length > 0 ? ['\nProjects over their allocation:\n', ...projectLines] : []),
  ].join('');
}

const daysMax = 40;

function byLine<Row extends { line: number }>(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => a.line - b.line);
}

function namedOf({ days, exceeded }: Outcome, { employees, projects }: Pick<Report, 'employees' | 'projects'>) {
  const names = new Map(employees.map(({ _id, name }) => [_id, plainLine(name)]));
  return {
    days: [...days.values()]
      .map((day) => ({ ...day, name: names.get(day.employeeId) ?? '' }))
      .toSorted((a, b) => a.name.localeCompare(b.name) || a.employeeId - b.employeeId || a.date.localeCompare(b.date)),
    exceededProjects: [...exceeded.values()].map((project) => ({
      ...project,
      name: plainLine(projects.get(project.projectId) ?? 'Project'),
    })),
  };
}
