import type { JSX } from 'preact';
import type { Employee } from 'work-management-client';
import { client, getCompanyId } from '../client.ts';
import { Figure, Loading, Problem } from '../parts.tsx';
import { ago, duration } from '../time.ts';
import { useLoad } from '../use-load.ts';

/** The figures of an employee, as the service counts them. */
export function Performance({ person }: { person: Employee }): JSX.Element {
  const { value, problem, reload } = useLoad(
    async (signal) => client.statistics.performance({ company_id: getCompanyId() }, { signal }),
    [person._id, person.isActive],
  );
  const figures = value?.employees.find((one) => one.employee_id === person._id);
  return (
    <section class="card" aria-labelledby="performance-heading">
      <h2 id="performance-heading" class="card-head">
        Work
      </h2>
      <Problem text={value ? null : problem} onRetry={reload} />
      {!value && problem === null && <Loading label="Reading the figures" />}
      {value && !figures && <p class="quiet">Figures are shown of people who are active.</p>}
      {figures && (
        <>
          <dl class="figures">
            <Figure name="Logged" value={duration(figures.loggedHours * 3600)} />
            <Figure name="Tasks" value={figures.tasksAssigned} />
            <Figure name="Done" value={figures.tasksCompleted} />
            <Figure name="Overdue" value={figures.tasksOverdue} isBad={figures.tasksOverdue > 0} />
            <Figure
              name="On time"
              value={figures.onTimeRate === null ? '–' : `${Math.round(figures.onTimeRate * 100)} %`}
            />
            <Figure name="Comments" value={figures.commentsPosted} />
          </dl>
          <p class="quiet">
            {figures.lastActivityAt === null
              ? 'Nothing was logged, written or done yet.'
              : `Last active ${ago(figures.lastActivityAt)}.`}
          </p>
        </>
      )}
    </section>
  );
}
