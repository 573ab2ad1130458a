import type { JSX } from 'preact';
import type { CommentNow, Task } from 'work-management-client';
import { client, getMe } from '../client.ts';
import { Icon } from '../icon.tsx';
import { write } from '../network.ts';
import { attempt } from '../notices.ts';
import type { LiveComments } from './live-comments.ts';

/** What one can do with a comment, and who has seen it. */
export function Actions({
  comment,
  live,
  task,
  setMode,
}: {
  comment: CommentNow;
  live: LiveComments;
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
    live.change(_id, {
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
