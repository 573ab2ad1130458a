import type { JSX } from 'preact';
import type { TimesheetPeriod } from 'work-management-client';
import { Avatar } from '../parts.tsx';
import { dayInWords, daysInWords, duration, shortDuration, signedDuration } from '../time.ts';
import { titleOf, type Decision } from './decisions.ts';

type WaitingRowProps = {
  period: TimesheetPeriod;
  /** Whether the reader may decide on it: not on their own. */
  mayDecide: boolean;
  isSelected: boolean;
  isBusy: boolean;
  onSelect(isSelected: boolean): void;
  onDecide(decision: Decision): void;
};

/** A period that waits, with its hours and what can be done. */
export function WaitingRow({
  period,
  mayDecide,
  isSelected,
  isBusy,
  onSelect,
  onDecide,
}: WaitingRowProps): JSX.Element {
  const { employee_id: employeeId, name, firstDay, lastDay, totalSeconds, expectedMinutes } = period;
  const title = titleOf(period);
  return (
    <li class="waiting-row">
      <div class="waiting-head">
        {mayDecide && (
          <input
            type="checkbox"
            aria-label={`Select ${title}`}
            checked={isSelected}
            onChange={(event) => onSelect(event.currentTarget.checked)}
          />
        )}
        <Avatar id={employeeId} name={name} />
        <p>
          <strong>{name}</strong>
          <span>{daysInWords(firstDay, lastDay)}</span>
        </p>
        <p class="waiting-sum">
          <strong>{shortDuration(totalSeconds)}</strong>
          <span>of {shortDuration(expectedMinutes * 60)}</span>
        </p>
      </div>
      <details>
        <summary>
          By day <span class="visually-hidden">of {title}</span>
        </summary>
        <ul class="waiting-days">
          {daysOf(period).map(([date, seconds]) => (
            <li key={date}>
              <span>{dayInWords(date, { weekday: 'long', day: 'numeric', month: 'short' })}</span>
              <span>{duration(seconds)}</span>
            </li>
          ))}
          <li>
            <span>Difference</span>
            <strong>{signedDuration(totalSeconds - expectedMinutes * 60)}</strong>
          </li>
        </ul>
      </details>
      {mayDecide ? (
        <div class="waiting-do">
          <button
            type="button"
            class="button small"
            aria-disabled={isBusy}
            aria-label={`Approve ${title}`}
            onClick={() => onDecide('approve')}
          >
            Approve
          </button>
          <button
            type="button"
            class="button small"
            aria-disabled={isBusy}
            aria-label={`Reject ${title}`}
            onClick={() => onDecide('reject')}
          >
            Reject…
          </button>
        </div>
      ) : (
        <p class="quiet">Your own time: somebody else decides.</p>
      )}
    </li>
  );
}

/** The seconds of each day that has some. */
function daysOf({ snapshot }: TimesheetPeriod): [date: string, seconds: number][] {
  const days = new Map<string, number>();
  for (const { date, seconds } of snapshot) days.set(date, (days.get(date) ?? 0) + seconds);
  return [...days].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
