import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { isApiError } from 'work-management-client';
import { client, getCompanyId, getMe } from '../client.ts';
import { EntryList, type Entry } from '../entries/entry-list.tsx';
import { wallTimeOf } from '../entries/wall-time.ts';
import { Loading, Problem } from '../parts.tsx';
import { logged } from '../shell/timer.ts';
import { useLoad } from '../use-load.ts';
import { timezone } from '../workspace.ts';

type Range = { from: string; to: string };

/** One's own entries of the week, once they are asked for. */
export function WeekEntries({ from, to }: Range): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const summary = useRef<HTMLElement>(null);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary ref={summary}>My entries</summary>
      {isOpen && <Entries key={from} from={from} to={to} onDeleted={() => summary.current?.focus()} />}
    </details>
  );
}

function Entries({ from, to, onDeleted }: Range & { onDeleted(): void }): JSX.Element {
  const { value, problem, reload } = useLoad(
    async (signal) => findEntries({ from, to }, signal),
    [from, to, logged.value],
  );
  return (
    <>
      <Problem text={value ? null : problem} onRetry={reload} />
      {!value && problem === null && <Loading label="Reading your entries" />}
      {value?.length === 0 && <p class="quiet">Nothing was logged in this week.</p>}
      {value && <EntryList entries={value} withTask onDeleted={onDeleted} />}
    </>
  );
}

/** The service lists logs by their task only, so those of each task with time in the week are read. */
async function findEntries({ from, to }: Range, signal: AbortSignal): Promise<Entry[]> {
  const userId = getMe()._id;
  const sheet = await client.timesheets.get(
    { company_id: getCompanyId(), from, to, userId, groupBy: 'task' },
    { signal },
  );
  const rows = sheet.groupBy === 'task' ? sheet.rows : [];
  const entries = await Promise.all(
    rows.map(async ({ taskId, task: title }) => {
      const { taskLogs } = await client.taskLogs.listByTask({ taskId }, { signal }).catch((error: unknown) => {
        // The time of a deleted task counts, and cannot be changed any more.
        if (isApiError(error, 'NOT_FOUND')) return { taskLogs: [] };
        throw error;
      });
      return taskLogs.map((log) => ({ log, task: { _id: taskId, title, projectId: log.projectId } }));
    }),
  );
  return entries
    .flat()
    .filter(({ log }) => log.userId === userId && touches(log, { from, to }))
    .toSorted((a, b) => (a.log.startTime < b.log.startTime ? 1 : -1));
}

/** Time over midnight is on both days. */
const touches = ({ startTime, endTime }: Entry['log'], { from, to }: Range): boolean =>
  wallTimeOf(startTime, timezone.value).day <= to && wallTimeOf(endTime, timezone.value).day >= from;
