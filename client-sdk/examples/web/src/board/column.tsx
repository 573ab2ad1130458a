import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Task } from 'work-management-client';
import { client, getCompanyId, getMe } from '../client.ts';
import { Icon } from '../icon.tsx';
import { Avatar, Loading, Problem, StatusBadge, statusNames, type Status } from '../parts.tsx';
import { taskHref } from '../route.ts';
import { TimerButton } from '../shell/timer-pill.tsx';
import { dueIn } from '../time.ts';
import { useLoad } from '../use-load.ts';
import { nameOf, projectNameOf } from '../workspace.ts';

type ColumnProps = {
  status: Status;
  projectId: number | null;
  mine: boolean;
  /** `2026-03-01` */
  today: string;
  made: number;
  onNew(): void;
};

/** The tasks of one status, as many pages of them as were asked for. */
export function Column({ status, projectId, mine, today, made, onNew }: ColumnProps): JSX.Element {
  const [pages, setPages] = useState(1);
  const { value, problem, reload } = useLoad(
    async (signal) => {
      const input = {
        company_id: getCompanyId(),
        status,
        ...(projectId === null ? {} : { projectId }),
        ...(mine ? { owner_id: getMe()._id } : {}),
      };
      const read = Array.from({ length: pages }, (_, index) =>
        client.tasks.list({ ...input, page: index + 1 }, { signal }),
      );
      const answers = await Promise.all(read);
      // A task that moved to the next page between two reads is shown once.
      const tasks = new Map(answers.flatMap(({ results }) => results).map((task) => [task._id, task]));
      return { tasks: [...tasks.values()], total: answers[0]!.total };
    },
    [status, projectId, mine, pages, made],
  );

  return (
    <section class={`column column-${status}`} aria-label={statusNames[status]}>
      <h2>
        <StatusBadge status={status} />
        {value && <span class="count">{value.total}</span>}
      </h2>
      <Problem text={value ? null : problem} onRetry={reload} />
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
        <button type="button" class="button ghost wide" onClick={() => setPages(pages + 1)}>
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
