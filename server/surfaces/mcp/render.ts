import { plainTextOf } from '../../features/comments/rich-text.ts';
import type { ToolUse } from '../../kernel/tool.ts';
import { shownName } from './arguments.ts';
import { costOf, endWithin } from './tokens.ts';

/*
 * Answers of operations as results of tools: fields in snake_case as arguments are, without what has no value, no longer
 * than a result may be.
 */

type Shown = { [field: string]: unknown };

/** An answer without what agents do not need. */
export function shownOf(answer: Shown, { leavesOut = [], richText = [] }: ToolUse): Shown {
  const left = new Set(leavesOut);
  const rich = new Set(richText);
  const show = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.flatMap((item) => (isThread(item) ? thread(item) : [show(item)]));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).flatMap(([name, field]: [string, unknown]): [string, unknown][] => {
      if (left.has(name) || (value !== answer && isNothing(field))) return [];
      const text = rich.has(name) && typeof field === 'string' ? plainTextOf(field) : field;
      return [[shownName(name), show(text)]];
    });
    return Object.fromEntries(fields);
  };
  /** A comment and its replies, one after the other: `reply_to` says which is one of which. */
  const thread = ({ replies, ...comment }: Thread): unknown[] => [show(comment), ...(show(replies) as unknown[])];
  const shown = Object.entries(show(answer) as Shown);
  const told = shown.filter(([, value]) => value !== null);
  // Where nothing is left, that is the answer.
  return Object.fromEntries(told.length === 0 ? shown : told);
}

const isNothing = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);

type Thread = { replies: unknown[] };
const isThread = (value: unknown): value is Thread =>
  typeof value === 'object' && value !== null && 'replies' in value && Array.isArray(value.replies);

/** The most entries of a list inside a record. */
const innerMax = 20;

type Cut = { from: number; costMax: number };

/** A value whose texts and inner lists are no longer than allowed, and say so. */
export function cut(value: unknown, limits: Cut, depth = 0): unknown {
  if (typeof value === 'string') return cutText(value, limits);
  if (Array.isArray(value)) {
    const shown = value.slice(0, innerMax).map((item) => cut(item, limits, depth + 1));
    return value.length > innerMax ? [...shown, `… and ${value.length - innerMax} more`] : shown;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, cut(field, limits, depth + 1)]));
}

function cutText(text: string, { from, costMax }: Cut): string {
  if (costOf(text) <= costMax) return text;
  const end = endWithin(text, from, costMax);
  const before = from > 0 ? '… ' : '';
  return end >= text.length
    ? before + text.slice(from)
    : `${before}${text.slice(from, end)} … [${text.length - end} more characters; text_from: ${end}]`;
}

/** As many of the first records as fit. */
export function fitting(records: readonly unknown[], costMax: number): unknown[] {
  let cost = 0;
  const end = records.findIndex((record) => (cost += costOf(JSON.stringify(record)) + 1) > costMax);
  return end === -1 ? [...records] : records.slice(0, end);
}
