import { batch, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { Task, TasksOnProjectEvent } from 'work-management-client';
import { client, getCompanyId, getMe } from '../client.ts';
import { followLive } from '../live.ts';
import { statuses, type Status } from '../parts.tsx';
import { matches, moveTask, type Columns, type Filter } from './task-columns.ts';

/** The board, kept up to date as long as it is open. */
export type LiveTasks = {
  /** Undefined until they were read. */
  columns: ReadonlySignal<Columns | undefined>;
  problem: ReadonlySignal<string | null>;
  /** Counts the changes, for figures that the service computes. */
  changes: ReadonlySignal<number>;
  showMore(status: Status): void;
  reload(): void;
  stop(): void;
};

/** A connection has room for 100 streams. Of a company with more projects than this the newest are followed. */
export const projectsMax = 50;

/** The time in which changes are counted as one: the figures are read again once for all of them. */
const gatheringMs = 500;

type Opening = { filter: Filter; projectIds: readonly number[]; shown: Columns | undefined };

/** Opens the board: reads the tasks, and follows the events of the projects until `stop`. */
export function openTasks({ filter, projectIds, shown }: Opening): LiveTasks {
  const leaving = new AbortController();
  const { signal: leave } = leaving;
  const columns = signal(shown);
  const problem = signal<string | null>(null);
  const changes = createCounter(leave);
  const pages: Record<Status, number> = { todo: 1, in_progress: 1, in_review: 1, done: 1 };

  async function read(): Promise<void> {
    const entries = await Promise.all(
      statuses.map(
        async (status) => [status, await readColumn({ filter, status, pages: pages[status], leave })] as const,
      ),
    );
    batch(() => {
      columns.value = Object.fromEntries(entries) as Columns;
      problem.value = null;
    });
  }

  function take(event: TasksOnProjectEvent): void {
    changes.add();
    // The board of this project is about to go.
    if (event.type === 'project.deleted' && filter.projectId !== null) return;
    if (!columns.value || event.type === 'project.deleted' || event.type === 'project.imported') return reload();
    if (event.type !== 'task.created' && event.type !== 'task.updated' && event.type !== 'task.deleted') return;
    const next = moveTask(columns.value, event, (task) => matches(task, filter, getMe()._id));
    if (next === 'unknown') reload();
    else columns.value = next;
  }

  const streams = projectIds.map(
    (projectId) => (options: Parameters<typeof client.tasks.onProject>[1]) =>
      client.tasks.onProject({ projectId }, options),
  );
  const failed = (text: string): void => void (problem.value = text);
  const reload = followLive({ streams, leave, read, take, failed });
  return {
    columns,
    problem,
    changes: changes.count,
    showMore(status) {
      pages[status] += 1;
      reload();
    },
    reload,
    stop: () => leaving.abort(),
  };
}

/** The first pages of a column. */
async function readColumn({
  filter: { projectId, mine },
  status,
  pages,
  leave,
}: {
  filter: Filter;
  status: Status;
  pages: number;
  leave: AbortSignal;
}): Promise<Columns[Status]> {
  const input = {
    company_id: getCompanyId(),
    status,
    ...(projectId === null ? {} : { projectId }),
    ...(mine ? { owner_id: getMe()._id } : {}),
  };
  const read = Array.from({ length: pages }, (_, index) =>
    client.tasks.list({ ...input, page: index + 1 }, { signal: leave }),
  );
  const answers = await Promise.all(read);
  // A task that moved to the next page between two reads is shown once.
  const tasks = new Map<number, Task>(answers.flatMap(({ results }) => results).map((task) => [task._id, task]));
  return { tasks: [...tasks.values()], total: answers[0]!.total };
}

function createCounter(leave: AbortSignal): { count: Signal<number>; add(): void } {
  const count = signal(0);
  let timeout: ReturnType<typeof setTimeout> | undefined;
  leave.addEventListener('abort', () => clearTimeout(timeout), { once: true });
  return {
    count,
    add() {
      timeout ??= setTimeout(() => {
        timeout = undefined;
        count.value += 1;
      }, gatheringMs);
    },
  };
}
