import { useEffect, useState } from 'preact/hooks';
import { transport } from '../network.ts';
import { projects } from '../workspace.ts';
import { openTasks, projectsMax, type LiveTasks } from './live-tasks.ts';
import type { Filter } from './task-columns.ts';

/** The tasks of the board, followed as long as it is shown. What was shown stays until the next is read. */
export function useLiveTasks({ projectId, mine }: Filter): LiveTasks | undefined {
  const [live, setLive] = useState<LiveTasks>();
  const all = projects.value?.map(({ _id }) => _id);
  // Over server-sent events each stream takes one of the page's six connections.
  const max = transport.value === 'sse' ? 1 : projectsMax;
  const projectIds = (projectId === null ? all : all?.filter((one) => one === projectId))?.slice(0, max);
  useEffect(() => {
    if (!projectIds?.length) return undefined;
    const opened = openTasks({ filter: { projectId, mine }, projectIds, shown: live?.columns.peek() });
    setLive(opened);
    return () => opened.stop();
  }, [JSON.stringify([projectIds, mine])]);
  // What is not followed is read again when the window is looked at.
  const isPartial = projectId === null && all !== undefined && all.length > max;
  useEffect(() => {
    if (!isPartial) return undefined;
    const look = (): void => {
      if (document.visibilityState === 'visible') live?.reload();
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [isPartial, live]);
  return live;
}
