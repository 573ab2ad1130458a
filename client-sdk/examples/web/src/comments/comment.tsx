import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isApiError, type CommentNow, type Task } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { Contained } from '../contained.tsx';
import { Icon } from '../icon.tsx';
import { write } from '../network.ts';
import { attempt } from '../notices.ts';
import { Ago, Avatar } from '../parts.tsx';
import { Actions } from './comment-actions.tsx';
import { Composer } from './composer.tsx';
import { plainTextOf, RichText } from './rich-text.tsx';
import type { LiveComments } from './live-comments.ts';
import type { Thread } from './threads.ts';

type CommentProps = { thread: Thread; live: LiveComments; task: Task; depth: number; targetId: number | null };

/** Deeper than this, answers stand in one line below each other and say whom they answer. */
const deepest = 4;

/** One comment with all that was answered to it. */
export function CommentThread({ thread, live, task, depth, targetId }: CommentProps): JSX.Element {
  const { comment, replies } = thread;
  return (
    <li class="thread">
      <Contained what="This comment" of={comment}>
        {comment.isDeleted ? <Tombstone comment={comment} /> : <Live {...{ thread, live, task, depth, targetId }} />}
      </Contained>
      {replies.length > 0 && (
        <ol class={`replies ${depth < deepest ? 'indented' : ''}`} aria-label={`Replies to ${comment.sender.name}`}>
          {replies.map((reply) => (
            <CommentThread
              key={reply.comment._id}
              thread={reply}
              live={live}
              task={task}
              depth={depth + 1}
              targetId={targetId}
            />
          ))}
        </ol>
      )}
    </li>
  );
}

function Tombstone({ comment }: { comment: CommentNow }): JSX.Element {
  return (
    <article class="comment tombstone" data-comment={comment._id} aria-label="Deleted comment">
      <span class="avatar empty" aria-hidden="true">
        <Icon name="trash" />
      </span>
      <p>This comment was deleted.</p>
    </article>
  );
}

function Live({ thread, live, task, targetId }: CommentProps): JSX.Element {
  const { comment } = thread;
  const [mode, setMode] = useState<'read' | 'reply' | 'edit' | 'delete'>('read');
  const box = useRef<HTMLElement>(null);
  const isTarget = targetId === comment._id;
  const { sender, message, mentions } = comment;

  useEffect(() => {
    if (!isTarget) return;
    box.current?.scrollIntoView({ block: 'center' });
    box.current?.focus({ preventScroll: true });
  }, [isTarget]);

  /** Closing the form returns the focus to where it was. */
  function close(): void {
    setMode('read');
    box.current?.focus({ preventScroll: true });
  }

  const marks = [isTarget ? 'target' : '', live.fresh.value.has(comment._id) ? 'fresh' : ''].join(' ');
  return (
    <article
      ref={box}
      class={`comment ${marks}`}
      tabIndex={-1}
      data-comment={comment._id}
      aria-label={`Comment by ${sender.name}`}
    >
      <Avatar id={sender._id} name={sender.name} />
      <div class="comment-body">
        <header>
          <strong class="comment-author">{sender.name}</strong>
          <Ago at={comment.createdAt} />
          {comment.isEdited && <span class="edited">edited</span>}
        </header>
        {mode === 'edit' ? (
          <Composer
            label="Change your comment"
            action="Save"
            text={plainTextOf(message ?? '')}
            isFocused
            onCancel={close}
            onSend={async ({ idempotencyKey, ...change }) => {
              live.put(
                await write(() => client.comments.update({ comment_id: comment._id, ...change }, { idempotencyKey })),
              );
              close();
            }}
          />
        ) : (
          <RichText html={message ?? ''} mentions={mentions} />
        )}
        {comment.image !== null && (
          <p>
            <a href={comment.image} target="_blank" rel="noopener noreferrer">
              Attached picture
            </a>
          </p>
        )}
        {mode !== 'edit' && <Actions {...{ comment, live, task, setMode }} />}
        {mode === 'delete' && <DeleteQuestion {...{ thread, live, close }} />}
        {mode === 'reply' && (
          <Composer
            label={`Reply to ${sender.name}`}
            action="Reply"
            isFocused
            onCancel={close}
            onSend={async ({ idempotencyKey, ...written }) => {
              const input = { taskId: task._id, sender: getMe()._id, reply_to: comment._id, ...written };
              live.put(await write(() => client.comments.create(input, { idempotencyKey })));
              close();
            }}
          />
        )}
      </div>
    </article>
  );
}

function DeleteQuestion({ thread, live, close }: { thread: Thread; live: LiveComments; close(): void }): JSX.Element {
  const { comment, replies } = thread;
  const yes = useRef<HTMLButtonElement>(null);
  useEffect(() => yes.current?.focus(), []);

  async function remove(): Promise<void> {
    await write(() => deleteOnce(comment._id));
    if (replies.length > 0) live.change(comment._id, { isDeleted: true, message: null });
    else live.remove(comment._id);
  }

  return (
    <div
      class="question"
      role="group"
      aria-label="Delete this comment?"
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
      }}
    >
      <p>Delete this comment?{replies.length > 0 && ' The replies to it stay.'}</p>
      <button type="button" class="button danger small" ref={yes} onClick={() => void attempt(remove)}>
        Delete
      </button>
      <button type="button" class="button ghost small" onClick={close}>
        Keep it
      </button>
    </div>
  );
}

/** One that is gone already, by a second click or by somebody else, is as good as deleted. */
async function deleteOnce(comment_id: number): Promise<void> {
  await client.comments.delete({ comment_id }).catch((error: unknown) => {
    if (!isApiError(error, 'NOT_FOUND')) throw error;
  });
}
