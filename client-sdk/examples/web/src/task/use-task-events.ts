import { useEffect } from 'preact/hooks';
import type { Task, TasksOnProjectEvent } from 'work-management-client';
import { client } from '../client.ts';
import { followLive } from '../live.ts';
import { transport } from '../network.ts';
import { failure } from '../notices.ts';

type Changes = {
  /** The task as somebody has just changed it. */
  onTask(task: Task): void;
  /** The time on it is another one. */
  onTime(): void;
  /** It has to be read again. */
  reload(): void;
};

/** Tells what becomes of a task as long as it is shown. */
export function useTaskEvents(task: Task | undefined, { onTask, onTime, reload }: Changes): void {
  const taskId = task?._id;
  const projectId = task?.projectId;
  // Over server-sent events each stream takes one of the page's six connections.
  const isFollowed = transport.value === 'websocket';
  useEffect(() => {
    if (taskId === undefined || projectId === undefined || !isFollowed) return undefined;
    const leaving = new AbortController();
    const isAbout = (event: TasksOnProjectEvent): boolean =>
      ('taskId' in event && event.taskId === taskId) ||
      ('taskLog' in event && event.taskLog.taskId === taskId) ||
      (event.type === 'task_log.updated' && event.changes.taskId?.before === taskId);
    followLive<TasksOnProjectEvent>({
      streams: [(options) => client.tasks.onProject({ projectId }, options)],
      leave: leaving.signal,
      read: async () => reload(),
      take(event) {
        if (event.type === 'project.deleted') reload();
        if (!isAbout(event)) return;
        if (event.type === 'task.updated' && !event.truncated) onTask(event.task);
        else if ('taskLog' in event) onTime();
        else reload();
      },
      failed: (problem) => void (failure.value = problem),
    });
    return () => leaving.abort();
  }, [taskId, projectId, isFollowed]);
}
