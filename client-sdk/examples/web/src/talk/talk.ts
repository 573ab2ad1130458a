import { computed, signal, type ReadonlySignal } from '@preact/signals';
import { isFault, type CommentNow, type CommentsOnTaskEvent } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { announce, attempt, explain } from '../notices.ts';
import { flatten, threadsOf, withSeen, type Comments, type Thread } from './threads.ts';
import { plainTextOf } from './rich-text.tsx';

/** What is said on one task, kept up to date as long as it is open. */
export type Talk = {
  /** Undefined until it was read. */
  threads: ReadonlySignal<Thread[] | undefined>;
  problem: ReadonlySignal<string | null>;
  /** Reads all of it again. */
  reload(): void;
  /** Comments that came while the talk was open. */
  fresh: ReadonlySignal<ReadonlySet<number>>;
  /** Takes over what a write has answered; the event about it changes nothing more. */
  put(comment: CommentNow): void;
  change(commentId: number, change: Partial<CommentNow>): void;
  remove(commentId: number): void;
  stop(): void;
};

type Change = (comments: Comments) => void;

export function openTalk(taskId: number): Talk {
  const comments = signal<Comments | undefined>(undefined);
  const problem = signal<string | null>(null);
  const fresh = signal<ReadonlySet<number>>(new Set());
  const leaving = new AbortController();
  /** What changed while the list is being read: the list may be older than it. */
  let meanwhile: Change[] | undefined;
  let isUnread = false;

  function update(change: Change): void {
    meanwhile?.push(change);
    if (!comments.value) return;
    const next = new Map(comments.value);
    change(next);
    comments.value = next;
  }

  /** Reads all of it, which also tells the others that it was seen. */
  async function read(): Promise<void> {
    if (meanwhile) {
      isUnread = true;
      return;
    }
    const changes: Change[] = [];
    meanwhile = changes;
    isUnread = false;
    try {
      const answer = await client.comments.listByTask({ task_id: taskId }, { signal: leaving.signal });
      const next = flatten(answer.comments);
      for (const change of changes) change(next);
      comments.value = next;
      problem.value = null;
    } finally {
      meanwhile = undefined;
    }
    if (isUnread) await read();
  }

  function take(event: CommentsOnTaskEvent): void {
    switch (event.type) {
      case 'comment.created':
      case 'comment.edited':
      case 'comment.liked':
      case 'comment.unliked':
      case 'comment.deleted': {
        const { comment, commentId } = event;
        if (comment && event.type === 'comment.created') tellOf(comment);
        return update((all) => (comment ? all.set(commentId, comment) : all.delete(commentId)));
      }
      case 'comment.seen':
        return update((all) => withSeen(all, event));
      case 'stream.reset':
        return void attempt(read);
    }
  }

  function tellOf({ _id, sender, message }: CommentNow): void {
    if (sender._id === getMe()._id) return;
    fresh.value = new Set(fresh.value).add(_id);
    announce(`${sender.name} wrote: ${plainTextOf(message ?? '')}`);
    look();
  }

  /** Says that what has come was seen, by whoever has the window before them. */
  function look(): void {
    isUnread = true;
    lookAgain();
  }

  function lookAgain(): void {
    if (!isUnread || document.visibilityState !== 'visible') return;
    // Where it fails, the next look makes up for it.
    read().catch(() => (isUnread = true));
  }

  async function follow(): Promise<void> {
    let isRead = false;
    const onStatus = (status: string): void => {
      if (status !== 'live' || isRead) return;
      isRead = true;
      // From here on nothing is missed: what happens while the list is read comes as an event.
      read().catch((error: unknown) => {
        isRead = false;
        if (!leaving.signal.aborted) problem.value = explain(error);
      });
    };
    try {
      for await (const event of client.comments.onTask({ taskId }, { signal: leaving.signal, onStatus })) take(event);
    } catch (error) {
      if (isFault(error, 'NOT_FOUND')) problem.value = 'This task is not there any more.';
      else if (!isFault(error, 'SESSION_ENDED')) problem.value = explain(error);
    }
  }

  document.addEventListener('visibilitychange', lookAgain);
  void follow();

  return {
    threads: computed(() => comments.value && threadsOf(comments.value)),
    problem,
    reload: () => void attempt(read),
    fresh,
    put: (comment) => update((all) => all.set(comment._id, comment)),
    change: (commentId, change) =>
      update((all) => {
        const before = all.get(commentId);
        if (before) all.set(commentId, { ...before, ...change });
      }),
    remove: (commentId) => update((all) => all.delete(commentId)),
    stop() {
      document.removeEventListener('visibilitychange', lookAgain);
      leaving.abort();
    },
  };
}
