import type { TaskStatus } from '../tasks/queries.ts';
import type { Source } from './schemas.ts';

/** What the statuses and lists of most teams are called. */
const usual: Record<TaskStatus, readonly string[]> = {
  todo: ['to do', 'todo', 'open', 'new', 'reopened', 'backlog', 'selected for development', 'ready', 'planned'],
  in_progress: ['in progress', 'doing', 'in development', 'started', 'active'],
  in_review: ['in review', 'review', 'code review', 'in qa', 'qa', 'testing', 'in testing', 'ready for review'],
  done: ['done', 'closed', 'resolved', 'complete', 'completed', 'finished', "won't do", 'cancelled', 'canceled'],
};

const fold = (name: string): string => name.trim().toLowerCase();

/**
 * The status that the first known of some names stands for: as the caller maps it, or as usual. Lists of Trello need not be
 * statuses, so a card of any other list is to do; an unknown status of Jira has none.
 */
export function createStatusOf(source: Source, mapping: Record<string, TaskStatus>) {
  const known = new Map(
    Object.entries(usual).flatMap(([status, names]) => names.map((name) => [name, status as TaskStatus] as const)),
  );
  for (const [name, status] of Object.entries(mapping)) known.set(fold(name), status);
  return (names: readonly string[]): TaskStatus | undefined => {
    const name = names.find((one) => known.has(fold(one)));
    if (name !== undefined) return known.get(fold(name));
    return source === 'trello' ? 'todo' : undefined;
  };
}
