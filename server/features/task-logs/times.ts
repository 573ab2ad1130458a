import type { Issue } from '../../errors/issues.ts';
import { VALIDATION_FAILED } from '../../errors/errors.ts';

const durationMaxMs = 24 * 3600 * 1000;
const futureMaxMs = 24 * 3600 * 1000;

export type Times = { start: Date; end: Date };

/** The caller's names of the two times, and the one to report when they do not fit together. */
export type TimeFields = { start: Issue['path']; end: Issue['path']; blame?: 'start' | 'end' };

/** The issues of a log's times: a log ends after it starts, lasts a day at most, and ends tomorrow at most. */
export function findTimeIssues({ start, end }: Times, now: Date, fields: TimeFields): Issue[] {
  const { blame = 'end' } = fields;
  const durationMs = end.getTime() - start.getTime();
  const issues: Issue[] = [];
  const refuse = (field: 'start' | 'end', message: string) =>
    issues.push({ path: fields[field], message, code: 'out_of_range' });

  const other = blame === 'end' ? 'after the start' : 'before the end';
  if (durationMs <= 0) refuse(blame, `must be ${other}`);
  else if (durationMs > durationMaxMs) refuse(blame, `must be at most 24 hours ${other}`);
  for (const [field, moment] of [['start', start] as const, ['end', end] as const])
    if (moment.getTime() - now.getTime() > futureMaxMs) refuse(field, 'must be at most a day in the future');
  return issues;
}

/** Throws if a log cannot have these times. */
export function checkTimes(times: Times, now: Date, fields: TimeFields): void {
  const issues = findTimeIssues(times, now, fields);
  if (issues.length === 0) return;
  const sentences = issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw VALIDATION_FAILED({ issues, detail: `${sentences.join('; ')}.` });
}
