import type { JSX } from 'preact';
import { client } from '../client.ts';
import { logged } from '../shell/timer.ts';
import { duration } from '../time.ts';
import { useLoad } from '../use-load.ts';
import { nameOf } from '../workspace.ts';

/** The time on a task, and who has spent it. */
export function LoggedTime({ taskId }: { taskId: number }): JSX.Element | null {
  const { value } = useLoad(
    async (signal) => client.taskLogs.listByTask({ taskId }, { signal }),
    [taskId, logged.value],
  );
  if (!value) return null;
  const byPerson = new Map<number, number>();
  for (const { userId, durationSeconds } of value.taskLogs)
    byPerson.set(userId, (byPerson.get(userId) ?? 0) + durationSeconds);
  const people = [...byPerson].toSorted(([, a], [, b]) => b - a);
  return (
    <section class="logged" aria-labelledby="logged-heading">
      <h2 id="logged-heading">Logged time</h2>
      <p class="logged-total">{duration(value.totalSeconds)}</p>
      <ul>
        {people.slice(0, 5).map(([userId, seconds]) => (
          <li key={userId}>
            <span>{nameOf(userId)}</span>
            <span>{duration(seconds)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
