import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { client, getCompanyId } from '../client.ts';
import { Icon } from '../icon.tsx';
import { Loading, Problem } from '../parts.tsx';
import { logged } from '../shell/timer.ts';
import { addDays, dayIn, dayInWords, daysInWords, duration, startOfWeek } from '../time.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { getMyself, timezone } from '../workspace.ts';
import { HoursChart, type DayHours } from './hours-chart.tsx';

/** The hours of a week by day, one's own or those of everybody. */
export function Hours(): JSX.Element {
  useTitle('Hours');
  const { _id, isAdmin, isTeamLeader } = getMyself();
  const maySeeAll = isAdmin || isTeamLeader;
  const [weeksAgo, setWeeksAgo] = useState(0);
  const [isAll, setAll] = useState(false);
  const today = dayIn(timezone.value);
  const from = addDays(startOfWeek(today), -7 * weeksAgo);
  const to = addDays(from, 6);

  const { value, problem, reload } = useLoad(
    async (signal) => {
      const input = { company_id: getCompanyId(), from, to, ...(isAll ? {} : { userId: _id }) };
      const [byDay, byTask] = await Promise.all([
        client.timesheets.get({ ...input, groupBy: 'day' }, { signal }),
        client.timesheets.get({ ...input, groupBy: 'task' }, { signal }),
      ]);
      const seconds = (day: string): number =>
        byDay.groupBy === 'day'
          ? byDay.rows.filter(({ date }) => date === day).reduce((sum, row) => sum + row.seconds, 0)
          : 0;
      const days: DayHours[] = Array.from({ length: 7 }, (_, index) => addDays(from, index)).map((date) => ({
        date,
        seconds: seconds(date),
      }));
      return { from, isAll, days, total: byDay.totalSeconds, tasks: byTask.groupBy === 'task' ? byTask.rows : [] };
    },
    [from, isAll, logged.value],
  );

  // What was read before stays until the answer is there, and goes where there is none.
  const shown = problem === null || (value?.from === from && value.isAll === isAll) ? value : undefined;

  return (
    <>
      <div class="page-head">
        <div>
          <p class="eyebrow">{daysInWords(from, to)}</p>
          <h1>
            {weeksAgo === 0 ? 'Hours this week' : weeksAgo === 1 ? 'Hours last week' : `Hours ${weeksAgo} weeks ago`}
          </h1>
        </div>
        <div class="toolbar">
          {maySeeAll && (
            <div class="ways" role="group" aria-label="Whose hours">
              <button type="button" aria-pressed={!isAll} onClick={() => setAll(false)}>
                Mine
              </button>
              <button type="button" aria-pressed={isAll} onClick={() => setAll(true)}>
                Everybody’s
              </button>
            </div>
          )}
          <div class="steps" role="group" aria-label="Which week">
            <button
              type="button"
              class="icon-button"
              aria-label="The week before"
              onClick={() => setWeeksAgo(weeksAgo + 1)}
            >
              <Icon name="left" />
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label="The week after"
              aria-disabled={weeksAgo === 0}
              onClick={() => setWeeksAgo(Math.max(0, weeksAgo - 1))}
            >
              <Icon name="right" />
            </button>
          </div>
        </div>
      </div>
      <Problem text={shown ? null : problem} onRetry={reload} />
      {!shown && problem === null && <Loading label="Reading the hours" lines={6} />}
      {shown && (
        <div class="hours">
          <section class="card" aria-labelledby="chart-heading">
            <h2 id="chart-heading">
              By day <span class="total">{duration(shown.total)}</span>
            </h2>
            <HoursChart days={shown.days} today={today} />
            <DayTable days={shown.days} total={shown.total} />
          </section>
          <TaskShares tasks={shown.tasks} total={shown.total} />
        </div>
      )}
    </>
  );
}

/** The chart in words and figures. */
function DayTable({ days, total }: { days: DayHours[]; total: number }): JSX.Element {
  return (
    <details>
      <summary>Show as a table</summary>
      <table>
        <caption class="visually-hidden">Hours by day</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ date, seconds }) => (
            <tr key={date}>
              <th scope="row">{dayInWords(date, { weekday: 'long', day: 'numeric', month: 'long' })}</th>
              <td>{duration(seconds)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All days</th>
            <td>{duration(total)}</td>
          </tr>
        </tfoot>
      </table>
    </details>
  );
}

type TaskShare = { taskId: number; task: string; project: string; seconds: number };

function TaskShares({ tasks, total }: { tasks: TaskShare[]; total: number }): JSX.Element {
  return (
    <section class="card" aria-labelledby="shares-heading">
      <h2 id="shares-heading">By task</h2>
      {tasks.length === 0 && <p class="quiet">No time in this week. Start the timer on a task, and it counts.</p>}
      <ul class="shares">
        {tasks
          .toSorted((a, b) => b.seconds - a.seconds)
          .slice(0, 8)
          .map(({ taskId, task, project, seconds }) => (
            <li key={taskId}>
              <span class="share-name">
                <a href={`#/tasks/${taskId}`}>{task}</a>
                <span>{project}</span>
              </span>
              <span class="share-time">{duration(seconds)}</span>
              <svg class="share-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                <rect width={(100 * seconds) / Math.max(1, total)} height="4" />
              </svg>
            </li>
          ))}
      </ul>
    </section>
  );
}
