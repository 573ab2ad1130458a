import type { ComponentChildren, JSX } from 'preact';
import { Icon } from '../icon.tsx';
import { dayInWords, shortDuration, signedDuration } from '../time.ts';
import { sumOf, type Day } from './load-week.ts';

/** The days of a week: what was worked on each against what was expected. */
export function DaysTable({
  days,
  today,
  children,
}: {
  days: Day[];
  today: string;
  children: ComponentChildren;
}): JSX.Element {
  const sum = sumOf(days);
  const longest = Math.max(
    1,
    ...days.flatMap(({ workingSeconds, expectedSeconds }) => [workingSeconds, expectedSeconds]),
  );
  return (
    <section class="card week-days" aria-labelledby="days-heading">
      <h2 id="days-heading">By day</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Worked</th>
            <th scope="col">Expected</th>
            <th scope="col">Difference</th>
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <tr key={day.date} class={rowClass(day, today)}>
              <th scope="row">
                <span class="week-day">
                  <DayName day={day} today={today} />
                  <Bar day={day} longest={longest} />
                </span>
              </th>
              <td>{shortDuration(day.workingSeconds)}</td>
              <td class="soft">{shortDuration(day.expectedSeconds)}</td>
              <td>{signedDuration(day.differenceSeconds)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All days</th>
            <td>{shortDuration(sum.workingSeconds)}</td>
            <td>{shortDuration(sum.expectedSeconds)}</td>
            <td>{signedDuration(sum.workingSeconds - sum.expectedSeconds)}</td>
          </tr>
        </tfoot>
      </table>
      {days.some(({ isLocked }) => isLocked) && (
        <p class="hint week-legend">
          <Icon name="lock" />
          Locked: nothing can be logged or changed on this day.
        </p>
      )}
      {children}
    </section>
  );
}

function rowClass({ date, workingSeconds, expectedSeconds }: Day, today: string): string | undefined {
  if (date === today) return 'today';
  return workingSeconds === 0 && expectedSeconds === 0 ? 'soft' : undefined;
}

function DayName({ day: { date, isLocked, holiday }, today }: { day: Day; today: string }): JSX.Element {
  return (
    <span class="week-day-name">
      <span class="wide">{dayInWords(date, { weekday: 'long' })}</span>
      <span class="narrow" aria-hidden="true">
        {dayInWords(date, { weekday: 'short' })}
      </span>
      <span class="week-date">{dayInWords(date, { day: 'numeric' })}</span>
      {date === today && <span class="visually-hidden">, today</span>}
      {isLocked && (
        <span class="week-lock" title="Locked">
          <Icon name="lock" />
          <span class="visually-hidden">, locked</span>
        </span>
      )}
      {holiday !== null && <span class="week-holiday">{holiday}</span>}
    </span>
  );
}

/** What was worked, over what was expected. The figures beside it say the same. */
function Bar({ day: { workingSeconds, expectedSeconds }, longest }: { day: Day; longest: number }): JSX.Element {
  const share = (seconds: number): number => (100 * seconds) / longest;
  return (
    <svg class="week-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="expected" width={share(expectedSeconds)} height="4" />
      <rect class="worked" width={share(workingSeconds)} height="4" />
      {workingSeconds > expectedSeconds && (
        <rect class="above" x={share(expectedSeconds)} width={share(workingSeconds - expectedSeconds)} height="4" />
      )}
    </svg>
  );
}
