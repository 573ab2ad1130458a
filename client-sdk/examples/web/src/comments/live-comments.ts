import { computed, signal, type ReadonlySignal } from '@preact/signals';
import { isApiError, type CommentNow, type CommentsOnTaskEvent } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { announce, attempt, explain } from '../notices.ts';
import { flatten, threadsOf, withSeen, type Comments, type Thread } from './threads.ts';
import { plainTextOf } from './rich-text.tsx';

/** What is said on one task, kept up to date as long as it is open. */
export type LiveComments = {
  /** Undefined until it was read. */
  threads: ReadonlySignal<Thread[] | undefined>;
  problem: ReadonlySignal<string | null>;
  /** Reads all of it again. */
  reload(): void;
  /** Comments that came while the list was open. */
  fresh: ReadonlySignal<ReadonlySet<number>>;
  /** Takes over what a write has answered; the event about it changes nothing more. */
  put(comment: CommentNow): void;
  change(commentId: number, change: Partial<CommentNow>): void;
  remove(commentId: number): void;
  stop(): void;
};

type Change = (comments: Comments) => void;

/** Opens the comments of a task: reads them, and follows their events until `stop`. */
export function openComments(taskId: number): LiveComments {
  const leaving = new AbortController();
  const { signal: leave } = leaving;
  const list = createList(taskId, leave);
  const fresh = signal<ReadonlySet<number>>(new Set());
  const seeing = createSeeing(list.read, leave);

  function announceNew({ _id, sender, message }: CommentNow): void {
    if (sender._id === getMe()._id) return;
    fresh.value = new Set(fresh.value).add(_id);
    announce(`${sender.name} wrote: ${plainTextOf(message ?? '')}`);
    seeing.markSeen();
  }

  function take(event: CommentsOnTaskEvent): void {
    switch (event.type) {
      case 'comment.created':
      case 'comment.edited':
      case 'comment.liked':
      case 'comment.unliked':
      case 'comment.deleted': {
        const { comment, commentId } = event;
        if (comment && event.type === 'comment.created') announceNew(comment);
        return list.update((all) => (comment ? all.set(commentId, comment) : all.delete(commentId)));
      }
      case 'comment.seen':
        return list.update((all) => withSeen(all, event));
      case 'stream.reset':
        return void attempt(list.read);
    }
  }

  void follow(taskId, { leave, take, list });
  return {
    threads: computed(() => list.comments.value && threadsOf(list.comments.value)),
    problem: list.problem,
    reload: () => void attempt(list.read),
    fresh,
    put: (comment) => list.update((all) => all.set(comment._id, comment)),
    change: (commentId, change) =>
      list.update((all) => {
        const before = all.get(commentId);
        if (before) all.set(commentId, { ...before, ...change });
      }),
    remove: (commentId) => list.update((all) => all.delete(commentId)),
    stop: () => leaving.abort(),
  };
}

/** The comments as they were read, with what has changed since. */
function createList(taskId: number, leave: AbortSignal) {
  const comments = signal<Comments | undefined>(undefined);
  const problem = signal<string | null>(null);
  /** Changes that come while the list is being read: the answer may be older than they are. */
  let pending: Change[] | undefined;
  let isStale = false;

  function update(change: Change): void {
    pending?.push(change);
    if (!comments.value) return;
    const next = new Map(comments.value);
    change(next);
    comments.value = next;
  }

  /** Reads all comments, which also marks them as seen. */
  async function read(): Promise<void> {
    if (pending) {
      isStale = true;
      return;
    }
    const changes: Change[] = [];
    pending = changes;
    isStale = false;
    try {
      const answer = await client.comments.listByTask({ task_id: taskId }, { signal: leave });
      const next = flatten(answer.comments);
      for (const change of changes) change(next);
      comments.value = next;
      problem.value = null;
    } finally {
      pending = undefined;
    }
    if (isStale) await read();
  }

  return { comments, problem, update, read };
}

/** Reads again after new comments, which marks them as seen, as soon as the window is visible. */
function createSeeing(read: () => Promise<void>, leave: AbortSignal) {
  let isUnseen = false;

  function readIfVisible(): void {
    if (!isUnseen || document.visibilityState !== 'visible') return;
    isUnseen = false;
    // Where it fails, the next look makes up for it.
    read().catch(() => (isUnseen = true));
  }

  document.addEventListener('visibilitychange', readIfVisible, { signal: leave });
  return {
    markSeen(): void {
      isUnseen = true;
      readIfVisible();
    },
  };
}

type Following = { leave: AbortSignal; take(event: CommentsOnTaskEvent): void; list: ReturnType<typeof createList> };

async function follow(taskId: number, { leave, take, list }: Following): Promise<void> {
  let isRead = false;
  const onStatus = (status: string): void => {
    if (status !== 'live' || isRead) return;
    isRead = true;
    // From here on nothing is missed: what happens while the list is read comes as an event.
    list.read().catch((error: unknown) => {
      isRead = false;
      if (!leave.aborted) list.problem.value = explain(error);
    });
  };
  try {
    for await (const event of client.comments.onTask({ taskId }, { signal: leave, onStatus })) take(event);
  } catch (error) {
    if (isApiError(error, 'NOT_FOUND')) list.problem.value = 'This task is not there any more.';
    else if (!isApiError(error, 'SESSION_ENDED')) list.problem.value = explain(error);
  }
}
