import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Task } from 'work-management-client';
import { Due } from '../board/column.tsx';
import { client } from '../client.ts';
import { Icon } from '../icon.tsx';
import { write } from '../network.ts';
import { attempt } from '../notices.ts';
import { Avatar, Loading, Problem, statuses, StatusBadge, statusNames, type Status } from '../parts.tsx';
import { boardHref } from '../route.ts';
import { TimerButton } from '../shell/timer-pill.tsx';
import { CommentsView } from '../comments/comments-view.tsx';
import { dayIn, dayInWords } from '../time.ts';
import { useLoad } from '../use-load.ts';
import { useTitle } from '../use-title.ts';
import { nameOf, projectNameOf, timezone } from '../workspace.ts';
import { LoggedTime } from './logged-time.tsx';
import { TaskActions } from './task-actions.tsx';
import { useTaskEvents } from './use-task-events.ts';

/** One task: what it is, who does it, the time on it, and the comments on it. */
export function TaskPage({ taskId, commentId }: { taskId: number; commentId: number | null }): JSX.Element {
  const [changed, setChanged] = useState<Task | null>(null);
  const [timeChanges, setTimeChanges] = useState(0);
  const { value, problem, error, reload } = useLoad(
    async (signal) => {
      const task = await client.tasks.get({ task_id: taskId }, { signal });
      setChanged(null);
      return task;
    },
    [taskId],
  );
  const task = changed ?? value;
  const show = (next: Task): void =>
    setChanged((before) => (before && before.updatedAt > next.updatedAt ? before : next));
  useTitle(task?.title ?? 'Task');
  useTaskEvents(task, { onTask: show, onTime: () => setTimeChanges((before) => before + 1), reload });

  if (error?.code === 'NOT_FOUND') {
    return (
      <div class="empty card">
        <h1>This task is not there</h1>
        <p>It was deleted, or it belongs to another company.</p>
        <a class="button primary" href="#/tasks">
          Go to the board
        </a>
      </div>
    );
  }
  if (!task)
    return problem === null ? (
      <Loading label="Reading the task" lines={6} />
    ) : (
      <Problem text={problem} onRetry={reload} />
    );

  const change = async (status: Status): Promise<void> =>
    show(await write(() => client.tasks.update({ task_id: taskId, status })));

  return (
    <div class="task-page">
      <div class="task-main">
        <nav class="crumbs" aria-label="Where this is">
          <a href="#/tasks">Board</a>
          <Icon name="right" />
          <a href={boardHref({ projectId: task.projectId, mine: false })}>{projectNameOf(task.projectId)}</a>
        </nav>
        <div class="task-head">
          <h1>{task.title}</h1>
          <TaskActions task={task} onSaved={show} />
        </div>
        {task.description !== null && <p class="description">{task.description}</p>}
      </div>
      <aside class="task-facts card" aria-label="About this task">
        <TimerButton task={task} />
        <StatusPicker status={task.status} onPick={(status) => attempt(async () => change(status))} />
        <Facts task={task} />
        <LoggedTime task={task} changes={timeChanges} />
      </aside>
      <CommentsView task={task} targetId={commentId} />
    </div>
  );
}

function StatusPicker({ status, onPick }: { status: Status; onPick(status: Status): Promise<boolean> }): JSX.Element {
  async function pick(select: HTMLSelectElement): Promise<void> {
    const isDone = await onPick(select.value as Status);
    // What was refused is not shown as if it were so.
    if (!isDone) select.value = status;
  }

  return (
    <div class="field">
      <label for="task-status">Status</label>
      <div class={`status-picker status-${status}`}>
        <Icon name={status} />
        <select id="task-status" value={status} onChange={({ currentTarget }) => void pick(currentTarget)}>
          {statuses.map((one) => (
            <option key={one} value={one}>
              {statusNames[one]}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}

function Facts({ task }: { task: Task }): JSX.Element {
  const { owner_id, collaborators, dueDate, estimatedHours } = task;
  return (
    <dl class="facts">
      <div>
        <dt>Owner</dt>
        <dd>
          <Avatar id={owner_id} name={nameOf(owner_id)} />
          {nameOf(owner_id)}
        </dd>
      </div>
      {collaborators.length > 0 && (
        <div>
          <dt>With</dt>
          {collaborators.map(({ _id, name }) => (
            <dd key={_id}>
              <Avatar id={_id} name={name} />
              {name}
            </dd>
          ))}
        </div>
      )}
      {dueDate !== null && (
        <div>
          <dt>Due</dt>
          <dd>{dayInWords(dueDate, { weekday: 'short', day: 'numeric', month: 'short' })}</dd>
          <dd>
            {task.status === 'done' ? <StatusBadge status="done" /> : <Due task={task} today={dayIn(timezone.value)} />}
          </dd>
        </div>
      )}
      {estimatedHours !== null && (
        <div>
          <dt>Estimate</dt>
          <dd>{estimatedHours} h</dd>
        </div>
      )}
    </dl>
  );
}
