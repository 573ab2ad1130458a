import type { JSX } from 'preact';
import type { Task } from 'work-management-client';
import { Icon } from '../icon.tsx';
import { Avatar, Loading, Problem, StatusBadge, statusNames, type Status } from '../parts.tsx';
import { taskHref } from '../route.ts';
import { TimerButton } from '../shell/timer-pill.tsx';
import { dueIn } from '../time.ts';
import { nameOf, projectNameOf } from '../workspace.ts';
import type { LiveTasks } from './live-tasks.ts';

type ColumnProps = {
  status: Status;
  live: LiveTasks | undefined;
  /** `2026-03-01` */
  today: string;
  onNew(): void;
};

/** The tasks of one status, as many pages of them as were asked for. */
export function Column({ status, live, today, onNew }: ColumnProps): JSX.Element {
  const value = live?.columns.value?.[status];
  const problem = live?.problem.value ?? null;
  return (
    <section class={`column column-${status}`} aria-label={statusNames[status]}>
      <h2>
        <StatusBadge status={status} />
        {value && <span class="count">{value.total}</span>}
      </h2>
      <Problem text={value ? null : problem} onRetry={() => live?.reload()} />
      {!value && problem === null && <Loading label={`Reading ${statusNames[status]}`} />}
      {value?.tasks.length === 0 && (
        <p class="quiet">
          {status === 'todo' ? (
            <>
              Nothing waits.{' '}
              <button type="button" class="link" onClick={onNew}>
                Add a task
              </button>
            </>
          ) : (
            'Nothing here.'
          )}
        </p>
      )}
      <ul>
        {value?.tasks.map((task) => (
          <Card key={task._id} task={task} today={today} />
        ))}
      </ul>
      {value && value.tasks.length < value.total && (
        <button type="button" class="button ghost wide" onClick={() => live?.showMore(status)}>
          Show more
        </button>
      )}
    </section>
  );
}

function Card({ task, today }: { task: Task; today: string }): JSX.Element {
  const people = [{ _id: task.owner_id, name: nameOf(task.owner_id) }, ...task.collaborators];
  return (
    <li class="task-card">
      <p class="eyebrow">{projectNameOf(task.projectId)}</p>
      <h3>
        <a href={taskHref(task._id)}>{task.title}</a>
      </h3>
      <div class="task-card-foot">
        <Due task={task} today={today} />
        <span class="people">
          {people.slice(0, 3).map(({ _id, name }) => (
            <Avatar key={_id} id={_id} name={name} label />
          ))}
          {people.length > 3 && <span class="more">+{people.length - 3}</span>}
        </span>
        <TimerButton task={task} small />
      </div>
    </li>
  );
}

/** When a task is due; late in words, not by colour alone. */
export function Due({ task, today }: { task: Task; today: string }): JSX.Element | null {
  if (task.dueDate === null) return null;
  if (task.status === 'done') {
    return (
      <span class="due">
        <Icon name="done" />
        Done
      </span>
    );
  }
  const isLate = task.dueDate < today;
  return (
    <span class={isLate ? 'due late' : 'due'}>
      <Icon name={isLate ? 'warning' : 'calendar'} />
      {isLate ? 'Late, due' : 'Due'} {dueIn(task.dueDate, today)}
    </span>
  );
}
