import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CommentNow, Task } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { Icon } from '../icon.tsx';
import { write } from '../network.ts';
import { attempt } from '../notices.ts';
import { Ago, Avatar } from '../parts.tsx';
import { Composer } from './composer.tsx';
import { plainTextOf, RichText } from './rich-text.tsx';
import type { Talk } from './talk.ts';
import type { Thread } from './threads.ts';

type CommentProps = { thread: Thread; talk: Talk; task: Task; depth: number; targetId: number | null };

/** Deeper than this, answers stand in one line below each other and say whom they answer. */
const deepest = 4;

/** One comment with all that was answered to it. */
export function CommentThread({ thread, talk, task, depth, targetId }: CommentProps): JSX.Element {
  const { comment, replies } = thread;
  return (
    <li class="thread">
      {comment.isDeleted ? <Tombstone comment={comment} /> : <Live {...{ thread, talk, task, depth, targetId }} />}
      {replies.length > 0 && (
        <ol class={`replies ${depth < deepest ? 'indented' : ''}`} aria-label={`Replies to ${comment.sender.name}`}>
          {replies.map((reply) => (
            <CommentThread
              key={reply.comment._id}
              thread={reply}
              talk={talk}
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

function Live({ thread, talk, task, targetId }: CommentProps): JSX.Element {
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

  /** Whoever opened a form goes on where they were. */
  function close(): void {
    setMode('read');
    box.current?.focus({ preventScroll: true });
  }

  const marks = [isTarget ? 'target' : '', talk.fresh.value.has(comment._id) ? 'fresh' : ''].join(' ');
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
              talk.put(
                await write(() => client.comments.edit({ comment_id: comment._id, ...change }, { idempotencyKey })),
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
        {mode !== 'edit' && <Actions {...{ comment, talk, task, setMode }} />}
        {mode === 'delete' && <DeleteQuestion {...{ thread, talk, close }} />}
        {mode === 'reply' && (
          <Composer
            label={`Reply to ${sender.name}`}
            action="Reply"
            isFocused
            onCancel={close}
            onSend={async ({ idempotencyKey, ...written }) => {
              const input = { taskId: task._id, sender: getMe()._id, reply_to: comment._id, ...written };
              talk.put(await write(() => client.comments.create(input, { idempotencyKey })));
              close();
            }}
          />
        )}
      </div>
    </article>
  );
}

function Actions({
  comment,
  talk,
  task,
  setMode,
}: {
  comment: CommentNow;
  talk: Talk;
  task: Task;
  setMode(mode: 'reply' | 'edit' | 'delete'): void;
}): JSX.Element {
  const me = getMe();
  const { _id, likedByMe, likeCount, likes, sender } = comment;
  const isMine = sender._id === me._id;

  async function like(): Promise<void> {
    const input = { employee_id: me._id, comment_id: _id };
    const answer = await write(() => (likedByMe ? client.comments.unlike(input) : client.comments.like(input)));
    const others = likes.filter((one) => one.employee_id !== me._id);
    talk.change(_id, {
      ...answer,
      likes: answer.likedByMe ? [...others, { employee_id: me._id, name: me.name }] : others,
    });
  }

  return (
    <footer class="comment-actions">
      <button
        type="button"
        class="action like"
        aria-pressed={likedByMe}
        title={likeCount === 0 ? 'Like' : `Liked by ${likes.map(({ name }) => name).join(', ')}`}
        onClick={() => void attempt(like)}
      >
        <Icon name="heart" filled={likedByMe} />
        {likeCount === 0 ? 'Like' : <span class="like-count">{likeCount}</span>}
        {likeCount > 0 && <span class="visually-hidden"> {likeCount === 1 ? 'like' : 'likes'}</span>}
      </button>
      <button type="button" class="action" onClick={() => setMode('reply')}>
        <Icon name="reply" />
        Reply
      </button>
      {isMine && (
        <button type="button" class="action" onClick={() => setMode('edit')}>
          <Icon name="pencil" />
          Edit
        </button>
      )}
      {(isMine || task.owner_id === me._id) && (
        <button type="button" class="action" onClick={() => setMode('delete')}>
          <Icon name="trash" />
          Delete
        </button>
      )}
      <SeenBy comment={comment} />
    </footer>
  );
}

function SeenBy({ comment }: { comment: CommentNow }): JSX.Element | null {
  const others = comment.seenBy.filter(({ employee_id }) => employee_id !== getMe()._id);
  if (others.length === 0) return null;
  const first = (name: string): string => name.split(' ')[0]!;
  const shown = others.slice(0, 2).map(({ name }) => first(name));
  const rest = others.length - shown.length;
  return (
    <span class="seen" title={`Seen by ${others.map(({ name }) => name).join(', ')}`}>
      <Icon name="seen" />
      Seen by {shown.join(rest > 0 ? ', ' : ' and ')}
      {rest > 0 && ` and ${rest} more`}
    </span>
  );
}

function DeleteQuestion({ thread, talk, close }: { thread: Thread; talk: Talk; close(): void }): JSX.Element {
  const { comment, replies } = thread;
  const yes = useRef<HTMLButtonElement>(null);
  useEffect(() => yes.current?.focus(), []);

  async function remove(): Promise<void> {
    await write(() => client.comments.delete({ comment_id: comment._id }));
    if (replies.length > 0) talk.change(comment._id, { isDeleted: true, message: null });
    else talk.remove(comment._id);
  }

  return (
    <div class="question" role="group" aria-label="Delete this comment?">
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
