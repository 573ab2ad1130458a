import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { dayInWords, duration } from '../time.ts';
import { nameOf } from '../workspace.ts';
import type { Period } from './load-week.ts';
import { PeriodBadge } from './period-badge.tsx';
import { Submission } from './submission.tsx';

type PeriodCardProps = { period: Period; isMonth: boolean; today: string; onChanged(): void };

/** How the period of the week stands, and its submission. */
export function PeriodCard({ period, isMonth, today, onChanged }: PeriodCardProps): JSX.Element {
  const { firstDay, lastDay, stored, workingSeconds, expectedSeconds } = period;
  const heading = useRef<HTMLHeadingElement>(null);
  const note = stored?.note ?? null;
  return (
    <section class="card period" aria-labelledby="period-heading">
      <h2 id="period-heading" tabIndex={-1} ref={heading}>
        {isMonth ? `Timesheet of ${dayInWords(firstDay, { month: 'long', year: 'numeric' })}` : 'Timesheet'}
        <PeriodBadge status={stored?.status ?? 'open'} />
      </h2>
      <p class="period-sum">
        <strong>{duration(workingSeconds)}</strong> of {duration(expectedSeconds)} expected
        <span>{differenceInWords(workingSeconds - expectedSeconds, lastDay >= today)}</span>
      </p>
      {isMonth && (
        <p class="quiet">Time is submitted by the month: this week belongs to the month in which it begins.</p>
      )}
      <p class="quiet">{standing(period, today)}</p>
      {note !== null && note !== '' && <blockquote class="period-note">{note}</blockquote>}
      {firstDay <= today && (
        <Submission
          key={firstDay}
          period={period}
          unit={isMonth ? 'month' : 'week'}
          onDone={() => {
            // The next button under the focus would do the opposite.
            heading.current?.focus();
            onChanged();
          }}
        />
      )}
    </section>
  );
}

function differenceInWords(seconds: number, goesOn: boolean): string {
  const minutes = Math.round(seconds / 60);
  if (minutes === 0) return 'exactly as expected';
  const length = duration(Math.abs(minutes) * 60);
  if (minutes > 0) return `${length} more`;
  return goesOn ? `${length} to go` : `${length} less`;
}

/** What has become of a period, in a sentence. */
function standing({ stored, firstDay }: Period, today: string): string {
  if (!stored) return firstDay > today ? 'It has not begun yet.' : 'Not submitted yet.';
  const { status, submittedAt, decidedAt, decidedBy } = stored;
  const on = (moment: string | null): string =>
    moment === null ? '' : ` on ${dayInWords(moment, { dateStyle: 'long' })}`;
  switch (status) {
    case 'submitted':
      return `Submitted${on(submittedAt)}. Its days are locked while it waits for approval.`;
    case 'approved':
      return decidedBy === null
        ? `Approved with its submission${on(decidedAt)}.`
        : `Approved by ${nameOf(decidedBy)}${on(decidedAt)}.`;
    case 'rejected':
      return `Rejected by ${nameOf(decidedBy ?? 0)}${on(decidedAt)}. Correct it and submit it again.`;
    case 'open':
      return decidedBy === null
        ? 'Withdrawn, and open again.'
        : `Opened again by ${nameOf(decidedBy)}${on(decidedAt)}.`;
  }
}
