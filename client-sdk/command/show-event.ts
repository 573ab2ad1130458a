import { plainLine, textOfHtml } from '../examples/terminal/plain-text.ts';
import { localTime } from './show.ts';

type Fields = Record<string, unknown>;

/** An event on one line: when, what, whose, and what has changed. */
export function showEvent(event: object): string {
  const { type, at, changes, actorId, id: _, ...rest } = event as Fields;
  const record = Object.values(rest).find((value) => isObject(value));
  const said = record ? [saidOf(record)] : Object.entries(rest).map(([name, value]) => `${name} ${textOf(value)}`);
  const by = typeof actorId === 'number' && !isObject(record?.['sender']) ? `by ${actorId}` : '';
  const parts = [typeof at === 'string' ? localTime(at) : '', textOf(type), ...said, changesOf(changes), by];
  return parts
    .filter((part) => part !== '')
    .map(plainLine)
    .join('  ');
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function saidOf({ sender, message, title, name, description, taskId }: Fields): string {
  // The message of a comment is HTML, another one is text.
  if (typeof message === 'string')
    return isObject(sender) ? `${textOf(sender['name'])}: ${textOfHtml(message)}` : message;
  const what = title ?? name ?? description;
  if (typeof what === 'string') return what;
  return taskId === undefined ? '' : `task ${textOf(taskId)}`;
}

function changesOf(changes: unknown): string {
  if (!isObject(changes)) return '';
  return Object.entries(changes)
    .map(([name, change]) => {
      const { before, after } = change as { before?: unknown; after?: unknown };
      return `${name}: ${textOf(before)} → ${textOf(after)}`;
    })
    .join(', ');
}
