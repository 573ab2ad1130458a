import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Task } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { write } from '../network.ts';
import { Loading, Problem } from '../parts.tsx';
import { CommentThread } from './comment.tsx';
import { Composer } from './composer.tsx';
import { openTalk, type Talk } from './talk.ts';
import type { Thread } from './threads.ts';

/** The talk on a task: threads, live, with a place to write. */
export function TalkView({ task, targetId }: { task: Task; targetId: number | null }): JSX.Element {
  const [talk, setTalk] = useState<Talk | null>(null);
  useEffect(() => {
    const opened = openTalk(task._id);
    setTalk(opened);
    return () => opened.stop();
  }, [task._id]);

  const threads = talk?.threads.value;
  return (
    <section class="talk card" aria-labelledby="talk-heading">
      <h2 id="talk-heading">Talk {threads && <span class="count">{countOf(threads)}</span>}</h2>
      <Problem text={talk?.problem.value ?? null} onRetry={() => talk?.reload()} />
      {!threads && talk?.problem.value === null && <Loading label="Reading the comments" lines={4} />}
      {talk && threads?.length === 0 && (
        <p class="quiet">Nobody has said anything yet. Ask a question, or tell how it is going.</p>
      )}
      {talk && threads && threads.length > 0 && (
        <ol class="threads">
          {threads.map((thread) => (
            <CommentThread
              key={thread.comment._id}
              thread={thread}
              talk={talk}
              task={task}
              depth={1}
              targetId={targetId}
            />
          ))}
        </ol>
      )}
      {talk && threads && (
        <Composer
          label="Write a comment"
          action="Comment"
          onSend={async ({ idempotencyKey, ...written }) => {
            const input = { taskId: task._id, sender: getMe()._id, ...written };
            talk.put(await write(() => client.comments.create(input, { idempotencyKey })));
          }}
        />
      )}
    </section>
  );
}

function countOf(threads: readonly Thread[]): number {
  return threads.reduce((sum, { comment, replies }) => sum + (comment.isDeleted ? 0 : 1) + countOf(replies), 0);
}
