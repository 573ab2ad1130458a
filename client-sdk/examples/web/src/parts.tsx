import type { ComponentChildren, JSX } from 'preact';
import type { Task } from 'work-management-client';
import { Icon } from './icon.tsx';
import { ago, momentInWords } from './time.ts';

export type Status = Task['status'];

export const statuses: readonly Status[] = ['todo', 'in_progress', 'in_review', 'done'];

export const statusNames: Record<Status, string> = {
  todo: 'To do',
  in_progress: 'In progress',
  in_review: 'In review',
  done: 'Done',
};

const hues = 8;

/** Whole characters as people count them: an emoji or an accent is not cut in two. */
const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** `AO` for Amara Okafor. */
export function initialsOf(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '');
  return [words[0] ?? '', words.length > 1 ? words.at(-1)! : '']
    .map((word) => characters.segment(word)[Symbol.iterator]().next().value?.segment ?? '')
    .join('')
    .toUpperCase();
}

/** Somebody's initials, in a colour of their own. Their name stands beside it, or is given by `label`. */
export function Avatar({ id, name, label = false }: { id: number; name: string; label?: boolean }): JSX.Element {
  const spoken = label ? ({ role: 'img', 'aria-label': name, title: name } as const) : { 'aria-hidden': true };
  return (
    <span class={`avatar hue-${id % hues}`} {...spoken}>
      {initialsOf(name)}
    </span>
  );
}

/** A status in words, with a sign and a colour of its own. */
export function StatusBadge({ status }: { status: Status }): JSX.Element {
  return (
    <span class={`status status-${status}`}>
      <Icon name={status} />
      {statusNames[status]}
    </span>
  );
}

export function Ago({ at }: { at: string }): JSX.Element {
  return (
    <time dateTime={at} title={momentInWords(at)}>
      {ago(at)}
    </time>
  );
}

/** Why something could not be shown or done, and what leads on from there. */
export function Problem({
  text,
  onRetry,
  children,
}: {
  text: string | null;
  onRetry?: () => void;
  children?: ComponentChildren;
}): JSX.Element | null {
  if (text === null) return null;
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <p>
        {text} {children}
      </p>
      {onRetry && (
        <button type="button" class="button small" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A number of a `dl` with the class `figures`. */
export function Figure({
  name,
  value,
  isBad = false,
}: {
  name: string;
  value: string | number;
  isBad?: boolean;
}): JSX.Element {
  return (
    <div class={isBad ? 'figure bad' : 'figure'}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Grey shapes where something is about to be. */
export function Loading({ lines = 3, label }: { lines?: number; label: string }): JSX.Element {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class="bone" />
      ))}
    </div>
  );
}
