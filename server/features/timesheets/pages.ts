import type { Db } from '../../../db/open.ts';
import { sortByName } from '../employees/sort-by-name.ts';
import { listPeriodBounds, readPolicy } from '../time-policies/queries.ts';
import { listStates, type StoredState } from '../timesheet-periods/queries.ts';
import type { Line } from './columns.ts';
import { listPeople, nameDetails, sumByDay, type DaySum, type Detail, type Details, type Scope } from './queries.ts';
import { batchesOf, dayRows, timeOf, weekRows, type Person } from './rows.ts';
import type { Grouping } from './schemas.ts';

/** The time of one person in one period of the company's policy, for paper. */
export type Sheet = {
  person: Person;
  firstDay: string;
  lastDay: string;
  /** The days of the period that were asked for. */
  from: string;
  to: string;
  /** The periods with these days that were handed in: one with the same days, or some of another length. */
  states: StoredState[];
  lines: Line[];
};

/** With rows of tasks for each day of a year, that is the largest batch. */
const peopleAtOnce = 10;

const detailOf: Partial<Record<Grouping, Detail>> = { project: 'project_id', task: 'task_id' };

/** The sheets of all people with time in the range, by name and then by period, one at a time. */
export async function* sheetsOf(db: Db, scope: Scope, groupBy: Grouping): AsyncGenerator<Sheet> {
  const { companyId, from, to } = scope;
  const periods = await listPeriodBounds(db, await readPolicy(db, companyId), scope);
  const detail = detailOf[groupBy];
  for (const people of batchesOf(sortByName(await listPeople(db, scope)), peopleAtOnce)) {
    const ids = people.map((person) => person.employee_id);
    const sums = await sumByDay(db, scope, ids, detail);
    const states = await listStates(db, scope, ids);
    const details =
      detail && (await nameDetails(db, companyId, detail, [...new Set(sums.map((sum) => sum.detail_id!))]));
    const sumsOf = Map.groupBy(sums, (sum) => sum.subject_id);
    for (const { employee_id: userId, name } of people) {
      const person = { userId, name };
      const ofPerson = sumsOf.get(userId) ?? [];
      for (const { firstDay, lastDay } of periods) {
        const ofPeriod = ofPerson.filter((sum) => sum.day >= firstDay && sum.day <= lastDay);
        if (ofPeriod.length === 0) continue;
        yield {
          person,
          firstDay,
          lastDay,
          from: from > firstDay ? from : firstDay,
          to: to < lastDay ? to : lastDay,
          states: states.filter(
            (state) => state.employee_id === userId && state.first_day <= lastDay && state.last_day >= firstDay,
          ),
          lines: details ? detailLines(ofPeriod, details, scope) : linesOf(ofPeriod, person, scope, groupBy),
        };
      }
    }
  }
}

function linesOf(sums: DaySum[], person: Person, scope: Scope, groupBy: Grouping): Line[] {
  if (groupBy === 'week') return weekRows(sums, person, scope);
  return groupBy === 'employee' ? [{ ...person, ...timeOf(sums, scope) }] : dayRows(sums, person, scope);
}

/** A line for each day and project or task. */
function detailLines(sums: DaySum[], details: Details, scope: Scope): Line[] {
  const byDay = Map.groupBy(sums, ({ day }) => day);
  return [...byDay].flatMap(([date, ofDay]) =>
    [...Map.groupBy(ofDay, (sum) => sum.detail_id!)].map(([id, ofDetail]) => ({
      date,
      ...details.get(id),
      ...timeOf(ofDetail, scope),
    })),
  );
}
