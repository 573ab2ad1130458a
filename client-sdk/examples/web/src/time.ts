import { signal } from '@preact/signals';

/** The present time, as often as a running timer or "5 minutes ago" needs it. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 1000);

const dayMs = 24 * 3600 * 1000;

/** `2026-03-01`: the day that it is in a time zone. */
export function dayIn(timezone: string, at: number = Date.now()): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(at);
}

/** A day so many days after another one; both as `2026-03-01`. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}

/** The first day of the week of a day, for weeks from Monday (0) or from another day. */
export function startOfWeek(day: string, firstWeekday = 0): string {
  return addDays(day, -((new Date(day).getUTCDay() + 6 - firstWeekday + 7) % 7));
}

/** A day in words, such as `{ weekday: 'short' }`. */
export function dayInWords(day: string, style: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', { ...style, timeZone: 'UTC' }).format(Date.parse(day));
}

/** `16 Nov – 22 Nov` */
export function daysInWords(from: string, to: string): string {
  const style = { day: 'numeric', month: 'short' } as const;
  return `${dayInWords(from, style)} – ${dayInWords(to, style)}`;
}

/** `2 h 05 min`; something is never nothing. */
export function duration(seconds: number): string {
  if (seconds > 0 && seconds < 60) return '< 1 min';
  const minutes = Math.round(seconds / 60);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours === 0) return `${rest} min`;
  return rest === 0 ? `${hours} h` : `${hours} h ${String(rest).padStart(2, '0')} min`;
}

/** `2 h 05`, for where there is little room; without full hours `5 min`. */
export const shortDuration = (seconds: number): string => duration(seconds).replace(/^(\d+ h.*) min$/, '$1');

/** `+ 20 min`, `− 1 h 40`: how far something is above or below what was expected, to the minute. */
export function signedDuration(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  return `${minutes > 0 ? '+ ' : minutes < 0 ? '− ' : ''}${shortDuration(Math.abs(minutes) * 60)}`;
}

/** `1:02:05`, for what runs. */
export function clockOf(seconds: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}`;
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `5 minutes ago`, and the day where it is long ago. */
export function ago(moment: string): string {
  const seconds = Math.min(0, (Date.parse(moment) - now.value) / 1000);
  if (seconds > -60) return 'just now';
  if (seconds > -3600) return relative.format(Math.ceil(seconds / 60), 'minute');
  if (seconds > -86_400) return relative.format(Math.ceil(seconds / 3600), 'hour');
  if (seconds > -7 * 86_400) return relative.format(Math.ceil(seconds / 86_400), 'day');
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' }).format(Date.parse(moment));
}

export function momentInWords(moment: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short' }).format(Date.parse(moment));
}

/** When a task is due, by the day that it is: `today`, `in 3 days`, `6 days ago`. */
export function dueIn(due: string, today: string): string {
  const days = Math.round((Date.parse(due) - Date.parse(today)) / dayMs);
  if (Math.abs(days) <= 13) return relative.format(days, 'day');
  const year = due.slice(0, 4) === today.slice(0, 4) ? undefined : 'numeric';
  return dayInWords(due, { day: 'numeric', month: 'short', year });
}
