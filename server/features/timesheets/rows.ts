import type { Db } from '../../../db/open.ts';
import { sortByName } from '../employees/sort-by-name.ts';
import { moneyOf, sumMoney } from '../../kernel/wire/money.ts';
import { hoursOf } from '../projects/hours.ts';
import {
  listPeople,
  listProjects,
  listTasksAfter,
  sumByDay,
  sumBySubject,
  type DaySum,
  type Scope,
  type Sum,
} from './queries.ts';
import { weekdays, type Grouping, type Row } from './schemas.ts';
import { weekOf } from './week.ts';

/*
 * The rows of a timesheet in order, a batch of people, projects or tasks at a time. Each batch is one statement, so a
 * long timesheet needs little memory and no connection waits for its reader.
 */

/** The number of people per batch: with a row for each day of a year, that is the largest batch. */
const peopleAtOnce = 50;
const projectsAtOnce = 200;
const tasksAtOnce = 1000;

export function rowsOf(db: Db, scope: Scope, groupBy: Grouping): AsyncGenerator<Row[]> {
  switch (groupBy) {
    case 'day':
      return rowsOfPeople(db, scope, (sums, person) => dayRows(sums, person, scope));
    case 'week':
      return rowsOfPeople(db, scope, (sums, person) => weekRows(sums, person, scope));
    case 'employee':
      return rowsByEmployee(db, scope);
    case 'project':
      return rowsByProject(db, scope);
    case 'task':
      return rowsByTask(db, scope);
  }
}

const secondsIn = (sums: Sum[]): number => sums.reduce((total, { seconds }) => total + seconds, 0);

export function timeOf(sums: Sum[], { amounts }: Scope) {
  const seconds = secondsIn(sums);
  const time = { seconds, hours: hoursOf(seconds) };
  return amounts
    ? { ...time, amounts: sumMoney(sums.flatMap((sum) => moneyOf(sum.minor_units, sum.currency) ?? [])) }
    : time;
}

export type Person = { userId: number; name: string };

async function* rowsOfPeople(
  db: Db,
  scope: Scope,
  toRows: (sums: DaySum[], person: Person) => Row[],
): AsyncGenerator<Row[]> {
  for (const people of batchesOf(sortByName(await listPeople(db, scope)), peopleAtOnce)) {
    const sums = await sumByDay(
      db,
      scope,
      people.map((person) => person.employee_id),
    );
    const byPerson = Map.groupBy(sums, (sum) => sum.subject_id);
    yield people.flatMap(({ employee_id: userId, name }) => toRows(byPerson.get(userId) ?? [], { userId, name }));
  }
}

export function dayRows(sums: DaySum[], person: Person, scope: Scope): Row[] {
  const byDay = Map.groupBy(sums, ({ day }) => day);
  return [...byDay].map(([date, ofDay]) => ({ ...person, date, ...timeOf(ofDay, scope) }));
}

export function weekRows(sums: DaySum[], person: Person, scope: Scope): Row[] {
  const { from, to } = scope;
  const byWeek = Map.groupBy(sums, ({ day }) => weekOf(day).monday);
  return [...byWeek.values()].map((days) => {
    const { week, monday, dates } = weekOf(days[0]!.day);
    const byDay = Map.groupBy(days, ({ day }) => day);
    const columns = weekdays.map((weekday, index) => {
      const date = dates[index]!;
      return [weekday, date < from || date > to ? null : secondsIn(byDay.get(date) ?? [])] as const;
    });
    return {
      ...person,
      week,
      monday,
      ...(Object.fromEntries(columns) as Record<(typeof weekdays)[number], number | null>),
      ...timeOf(days, scope),
    };
  });
}

async function* rowsByEmployee(db: Db, scope: Scope): AsyncGenerator<Row[]> {
  for (const people of batchesOf(sortByName(await listPeople(db, scope)), peopleAtOnce)) {
    const ids = people.map((person) => person.employee_id);
    const found = bySubject(await sumBySubject(db, scope, 'employee_id', ids));
    yield people.flatMap(({ employee_id: userId, name }) =>
      found.has(userId) ? [{ userId, name, ...timeOf(found.get(userId)!, scope) }] : [],
    );
  }
}

async function* rowsByProject(db: Db, scope: Scope): AsyncGenerator<Row[]> {
  const named = (await listProjects(db, scope)).toSorted((a, b) => byName.compare(a.name, b.name));
  for (const projects of batchesOf(named, projectsAtOnce)) {
    const ids = projects.map((project) => project.project_id);
    const found = bySubject(await sumBySubject(db, scope, 'project_id', ids));
    yield projects.flatMap(({ project_id: projectId, name }) =>
      found.has(projectId) ? [{ projectId, project: name, ...timeOf(found.get(projectId)!, scope) }] : [],
    );
  }
}

async function* rowsByTask(db: Db, scope: Scope): AsyncGenerator<Row[]> {
  for (let after = 0; ;) {
    const tasks = await listTasksAfter(db, scope, after, tasksAtOnce);
    const ids = tasks.map((task) => task.task_id);
    const found = bySubject(await sumBySubject(db, scope, 'task_id', ids));
    yield tasks.flatMap(({ task_id: taskId, title, project_id: projectId, project }) =>
      found.has(taskId) ? [{ taskId, task: title, projectId, project, ...timeOf(found.get(taskId)!, scope) }] : [],
    );
    if (tasks.length < tasksAtOnce) return;
    after = ids.at(-1)!;
  }
}

const byName = new Intl.Collator('en', { sensitivity: 'base' });

const bySubject = (sums: Sum[]): ReadonlyMap<number, Sum[]> => Map.groupBy(sums, (sum) => sum.subject_id);

export function* batchesOf<Item>(items: Item[], size: number): Generator<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
