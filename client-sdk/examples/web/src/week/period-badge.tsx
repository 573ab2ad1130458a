import type { JSX } from 'preact';
import type { TimesheetPeriod } from 'work-management-client';
import { Icon, type IconName } from '../icon.tsx';

type PeriodStatus = TimesheetPeriod['status'];

const badges: Record<PeriodStatus, { name: string; icon: IconName; colour: string }> = {
  open: { name: 'Open', icon: 'todo', colour: 'todo' },
  submitted: { name: 'Submitted', icon: 'in_review', colour: 'in_review' },
  approved: { name: 'Approved', icon: 'done', colour: 'done' },
  rejected: { name: 'Rejected', icon: 'warning', colour: 'rejected' },
};

/** The status of a period in words, with a sign and a colour of its own. */
export function PeriodBadge({ status }: { status: PeriodStatus }): JSX.Element {
  const { name, icon, colour } = badges[status];
  return (
    <span class={`status status-${colour}`}>
      <Icon name={icon} />
      {name}
    </span>
  );
}
