import type { JSX } from 'preact';
import { client, getCompanyId } from '../client.ts';
import { Figure } from '../parts.tsx';
import { logged } from '../shell/timer.ts';
import { useLoad } from '../use-load.ts';

/** How the company stands, in four figures, which the service computes: after changes they are read again. */
export function Figures({ changes }: { changes: number }): JSX.Element | null {
  const { value } = useLoad(
    async (signal) => client.statistics.company({ company_id: getCompanyId() }, { signal }),
    [changes, logged.value],
  );
  if (!value || value.tasks.total === 0) return null;
  const { tasks, hours } = value;
  return (
    <dl class="figures">
      <Figure name="Open tasks" value={tasks.total - tasks.byStatus.done} />
      <Figure name="Overdue" value={tasks.overdue} isBad={tasks.overdue > 0} />
      <Figure name="Done this week" value={tasks.completedThisWeek} />
      <Figure name="Hours this week" value={hours.thisWeek.toLocaleString('en-GB', { maximumFractionDigits: 1 })} />
    </dl>
  );
}
