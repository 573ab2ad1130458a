import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Task } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { EntryDialog } from '../entries/entry-dialog.tsx';
import { EntryList } from '../entries/entry-list.tsx';
import { Icon } from '../icon.tsx';
import { Loading, Problem } from '../parts.tsx';
import { logged } from '../shell/timer.ts';
import { duration } from '../time.ts';
import { useLoad } from '../use-load.ts';
import { nameOf } from '../workspace.ts';

/** The time on a task, who has spent it, and one's own of it; `changes` has it read again. */
export function LoggedTime({ task, changes }: { task: Task; changes: number }): JSX.Element {
  const [isAdding, setAdding] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const { value, problem, reload } = useLoad(
    async (signal) => client.taskLogs.listByTask({ taskId: task._id }, { signal }),
    [task._id, logged.value, changes],
  );
  if (!value)
    return problem === null ? (
      <Loading label="Reading the logged time" lines={2} />
    ) : (
      <Problem text={problem} onRetry={reload} />
    );
  const byPerson = new Map<number, number>();
  for (const { userId, durationSeconds } of value.taskLogs)
    byPerson.set(userId, (byPerson.get(userId) ?? 0) + durationSeconds);
  const people = [...byPerson].toSorted(([, a], [, b]) => b - a);
  const mine = value.taskLogs.filter(({ userId }) => userId === getMe()._id).map((log) => ({ log, task }));
  return (
    <section class="logged" aria-labelledby="logged-heading">
      <h2 id="logged-heading" tabIndex={-1} ref={heading}>
        Logged time
      </h2>
      <p class="logged-total">{duration(value.totalSeconds)}</p>
      <ul class="logged-people">
        {people.slice(0, 5).map(([userId, seconds]) => (
          <li key={userId}>
            <span>{nameOf(userId)}</span>
            <span>{duration(seconds)}</span>
          </li>
        ))}
      </ul>
      <button type="button" class="button small" onClick={() => setAdding(true)}>
        <Icon name="plus" />
        Add time
      </button>
      {mine.length > 0 && (
        <details>
          <summary>My entries</summary>
          <EntryList entries={mine} onDeleted={() => heading.current?.focus()} />
        </details>
      )}
      {isAdding && <EntryDialog task={task} onClose={() => setAdding(false)} />}
    </section>
  );
}
