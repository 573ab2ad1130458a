/*
 * `toISOString` for answers with many moments: the native one takes 0.8 µs, a tenth of a list of comments. Here the day
 * is formatted natively, once for successive moments of the same day, and the time is added.
 */

const dayMs = 24 * 3600 * 1000;
const padded = (digits: number): string[] =>
  Array.from({ length: 10 ** digits }, (_, n) => String(n).padStart(digits, '0'));
const two = padded(2);
const three = padded(3);

/** The last formatted day, by its number since 1970. */
let lastDay = NaN;
let lastDate = '';

/** UTC with milliseconds and `Z`. */
export function toIso(moment: Date): string {
  const ms = moment.getTime();
  const day = Math.floor(ms / dayMs);
  // Always true for an invalid date, which then throws as the native method does.
  if (day !== lastDay) {
    lastDate = moment.toISOString().split('T')[0]!;
    lastDay = day;
  }
  const milliseconds = ms - day * dayMs;
  const seconds = Math.floor(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return `${lastDate}T${two[hours]}:${two[minutes % 60]}:${two[seconds % 60]}.${three[milliseconds % 1000]}Z`;
}
