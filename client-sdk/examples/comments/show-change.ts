import { styleText } from 'node:util';
import type { CommentNow } from 'work-management-client';
import { plainJson, plainLine, textOfHtml } from '../terminal/plain-text.ts';
import type { Change, TrackedComments } from './changes.ts';

/** A change as a line of JSON. */
export function changeAsJson(change: Change): string {
  return `${plainJson(change)}\n`;
}

/** A change as people read it. */
export function changeAsText(change: Change, tracked: TrackedComments): string {
  const { type } = change;
  switch (type) {
    case 'listed':
      return indent(
        commentAsText(change.comment, change.depth === 0 ? tracked : undefined),
        2 * Math.min(change.depth, depthMax),
      );
    case 'written':
      return commentAsText(change.comment, tracked);
    case 'edited':
      return `${dim(`${nameOf(change.comment)} has changed #${change.comment._id}:`)}\n${bodyOf(change.comment)}`;
    case 'deleted':
      return dim(`#${change.comment._id} of ${nameOf(change.comment)} was deleted.`);
    case 'liked':
      return dim(`${plainLine(change.by.name)} likes #${change.comment._id} of ${nameOf(change.comment)}.`);
    case 'unliked':
      return dim(
        `${plainLine(change.by.name)} does not like #${change.comment._id} of ${nameOf(change.comment)} any more.`,
      );
    case 'seen':
      return dim(`${plainLine(change.by.name)} has seen ${change.commentIds.map((id) => `#${id}`).join(', ')}.`);
    default:
      return type satisfies never;
  }
}

/** Deeper threads do not move further to the right. */
const depthMax = 8;

/** With all comments, the one it answers is named; in a thread the eye sees that. */
function commentAsText(comment: CommentNow, tracked?: TrackedComments): string {
  const answered = comment.reply_to === null ? undefined : tracked?.find(comment.reply_to);
  const facts = [
    whenOf(comment.createdAt),
    answered ? `in reply to #${answered._id} of ${nameOf(answered)}` : [],
    comment.isEdited ? 'edited' : [],
    comment.likes.length > 0 ? `liked by ${comment.likes.map(({ name }) => plainLine(name)).join(', ')}` : [],
  ].flat();
  return `${styled('bold', `#${comment._id} ${nameOf(comment)}`)} ${dim(`(${facts.join('; ')})`)}\n${bodyOf(comment)}`;
}

function bodyOf({ message, image, isDeleted }: CommentNow): string {
  if (isDeleted) return indent(dim('deleted'), 4);
  const parts = [textOfHtml(message ?? ''), image === null ? '' : `Image: ${plainLine(image)}`];
  return indent(parts.filter((part) => part !== '').join('\n'), 4);
}

function nameOf({ sender }: CommentNow): string {
  return plainLine(sender.name);
}

const times = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short' });

/** In the time zone of the terminal. */
function whenOf(moment: string): string {
  return times.format(new Date(moment));
}

function indent(text: string, spaces: number): string {
  return text.replaceAll(/^/gm, ' '.repeat(spaces));
}

function dim(text: string): string {
  return styled('dim', text);
}

/** Plain where the output is no terminal, or NO_COLOR is set. */
function styled(style: 'bold' | 'dim', text: string): string {
  return styleText(style, text, { stream: process.stdout });
}
