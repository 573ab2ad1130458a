import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Task } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { write } from '../network.ts';
import { Loading, Problem } from '../parts.tsx';
import { CommentThread } from './comment.tsx';
import { Composer } from './composer.tsx';
import { openComments, type LiveComments } from './live-comments.ts';
import type { Thread } from './threads.ts';

/** The comments on a task: threads, live, with a place to write. */
export function CommentsView({ task, targetId }: { task: Task; targetId: number | null }): JSX.Element {
  const [live, setLive] = useState<LiveComments | null>(null);
  useEffect(() => {
    const opened = openComments(task._id);
    setLive(opened);
    return () => opened.stop();
  }, [task._id]);

  const threads = live?.threads.value;
  return (
    <section class="comments card" aria-labelledby="comments-heading">
      <h2 id="comments-heading">Comments {threads && <span class="count">{countOf(threads)}</span>}</h2>
      <Problem text={live?.problem.value ?? null} onRetry={() => live?.reload()} />
      {!threads && live?.problem.value === null && <Loading label="Reading the comments" lines={4} />}
      {live && threads?.length === 0 && (
        <p class="quiet">Nobody has said anything yet. Ask a question, or tell how it is going.</p>
      )}
      {live && threads && threads.length > 0 && (
        <ol class="threads">
          {threads.map((thread) => (
            <CommentThread
              key={thread.comment._id}
              thread={thread}
              live={live}
              task={task}
              depth={1}
              targetId={targetId}
            />
          ))}
        </ol>
      )}
      {live && threads && (
        <Composer
          label="Write a comment"
          action="Comment"
          onSend={async ({ idempotencyKey, ...written }) => {
            const input = { taskId: task._id, sender: getMe()._id, ...written };
            live.put(await write(() => client.comments.create(input, { idempotencyKey })));
          }}
        />
      )}
    </section>
  );
}

function countOf(threads: readonly Thread[]): number {
  return threads.reduce((sum, { comment, replies }) => sum + (comment.isDeleted ? 0 : 1) + countOf(replies), 0);
}
