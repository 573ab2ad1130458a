import { invalid } from '../../errors/errors.ts';

export const rangeDaysMax = 366;
const dayMs = 24 * 3600 * 1000;

/** Refuses a range of days, both included, that is backwards or longer than a leap year. */
export function checkRange(from: string, to: string): void {
  const days = 1 + (Date.parse(to) - Date.parse(from)) / dayMs;
  if (days < 1) throw invalid(['to'], 'must not be before from', 'out_of_range');
  if (days > rangeDaysMax) throw invalid(['to'], `must be at most ${rangeDaysMax - 1} days after from`, 'out_of_range');
}
