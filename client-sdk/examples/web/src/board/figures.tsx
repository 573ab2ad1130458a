import type { JSX } from 'preact';
import { client, getCompanyId } from '../client.ts';
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
  const figures: [name: string, value: string, isBad?: boolean][] = [
    ['Open tasks', String(tasks.total - tasks.byStatus.done)],
    ['Overdue', String(tasks.overdue), tasks.overdue > 0],
    ['Done this week', String(tasks.completedThisWeek)],
    ['Hours this week', hours.thisWeek.toLocaleString('en-GB', { maximumFractionDigits: 1 })],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, isBad]) => (
        <div key={name} class={isBad === true ? 'figure bad' : 'figure'}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
