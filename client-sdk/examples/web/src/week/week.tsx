import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { EntryDialog } from '../entries/entry-dialog.tsx';
import { Icon } from '../icon.tsx';
import { Loading, Problem } from '../parts.tsx';
import { weekHref } from '../route.ts';
import { notifications } from '../shell/notifications.ts';
import { logged } from '../shell/timer.ts';
import { addDays, dayIn, daysInWords } from '../time.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { getMyself, timezone } from '../workspace.ts';
import { DaysTable } from './days-table.tsx';
import { loadWeek, weekStartOf } from './load-week.ts';
import { PeriodCard } from './period-card.tsx';
import { Waiting } from './waiting.tsx';
import { WeekEntries } from './week-entries.tsx';

/** One's own week against what is expected, and its submission; for those who decide, what waits for them. */
export function Week({ day }: { day: string | null }): JSX.Element {
  useTitle('Week');
  const today = dayIn(timezone.value);
  const { _id, isAdmin, isTeamLeader } = getMyself();
  const [changes, setChanges] = useState(0);
  const [isAdding, setAdding] = useState(false);
  const asked = day ?? today;
  // There is no stream of periods, but people are notified of what becomes of theirs.
  const news = notifications.value?.[0]?._id;
  const { value, problem, reload } = useLoad(
    async (signal) => loadWeek(asked, signal),
    [_id, asked, logged.value, news, changes],
  );
  const onChanged = (): void => setChanges(changes + 1);
  const from = value && weekStartOf(asked, value.policy);
  // Until the week that is asked for was read, the one before it is shown, under its own name.
  const shown = value?.days[0]!.date;

  return (
    <>
      <div class="page-head">
        <div aria-live="polite">
          <p class="eyebrow">{shown === undefined ? 'My time' : daysInWords(shown, addDays(shown, 6))}</p>
          <h1>{value && shown !== undefined ? weekInWords(shown, weekStartOf(today, value.policy)) : 'Week'}</h1>
        </div>
        {from !== undefined && (
          <div class="row-actions">
            <Steps from={from} />
            <button type="button" class="button primary" onClick={() => setAdding(true)}>
              <Icon name="plus" />
              Add time
            </button>
          </div>
        )}
      </div>
      <Problem text={value && shown === from ? null : problem} onRetry={reload} />
      {!value && problem === null && <Loading label="Reading the week" lines={6} />}
      {value && (
        <div class="week">
          <PeriodCard
            period={value.period}
            isMonth={value.policy.period === 'month'}
            today={today}
            onChanged={onChanged}
          />
          <DaysTable days={value.days} today={today}>
            <WeekEntries from={value.days[0]!.date} to={value.days.at(-1)!.date} />
          </DaysTable>
          {(isAdmin || (isTeamLeader && value.policy.approver === 'teamLeader')) && (
            <Waiting changes={[news, changes]} onDecided={onChanged} />
          )}
        </div>
      )}
      {isAdding && from !== undefined && (
        <EntryDialog day={isWithin(today, from) ? today : from} onClose={() => setAdding(false)} />
      )}
    </>
  );
}

const isWithin = (day: string, from: string): boolean => day >= from && day < addDays(from, 7);

function weekInWords(from: string, present: string): string {
  const weeks = Math.round((Date.parse(from) - Date.parse(present)) / (7 * 24 * 3600 * 1000));
  if (weeks === 0) return 'This week';
  if (Math.abs(weeks) === 1) return weeks < 0 ? 'Last week' : 'Next week';
  return weeks < 0 ? `${-weeks} weeks ago` : `In ${weeks} weeks`;
}

function Steps({ from }: { from: string }): JSX.Element {
  return (
    <nav class="week-steps" aria-label="Which week">
      <a class="button" href={weekHref()}>
        Today
      </a>
      <span class="steps">
        <a class="icon-button" aria-label="The week before" href={weekHref(addDays(from, -7))}>
          <Icon name="left" />
        </a>
        <a class="icon-button" aria-label="The week after" href={weekHref(addDays(from, 7))}>
          <Icon name="right" />
        </a>
      </span>
    </nav>
  );
}
