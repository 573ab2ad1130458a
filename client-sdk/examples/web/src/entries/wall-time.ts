/* Days and times of day as the clocks of a time zone show them. */

/** `2026-03-01` and `09:30` */
export type WallTime = { day: string; time: string };

const minuteMs = 60_000;

export function wallTimeOf(moment: string | number, timezone: string): WallTime {
  const style = { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' } as const;
  const [day, time] = new Intl.DateTimeFormat('sv-SE', style).format(new Date(moment)).split(' ');
  return { day: day!, time: time!.slice(0, 5) };
}

/** The moment of a time of day. One that a change of the clocks skips becomes as much later. */
export function momentOf({ day, time }: WallTime, timezone: string): string {
  const asUtc = Date.parse(`${day}T${time}Z`);
  const offsetAt = (moment: number): number => {
    const wall = wallTimeOf(moment, timezone);
    return Date.parse(`${wall.day}T${wall.time}Z`) - Math.floor(moment / minuteMs) * minuteMs;
  };
  const guess = asUtc - offsetAt(asUtc);
  const exact = asUtc - offsetAt(guess);
  // In a skipped hour neither is shown as this time of day.
  return new Date(asUtc - offsetAt(exact) === exact ? exact : Math.max(guess, exact)).toISOString();
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

const two = (value: number): string => String(value).padStart(2, '0');

/** A time of day so many minutes later, on whichever day. */
export function addMinutes(time: string, minutes: number): string {
  const sum = (((minutesOf(time) + minutes) % 1440) + 1440) % 1440;
  return `${two(Math.floor(sum / 60))}:${two(sum % 60)}`;
}

/** The minutes from one time of day to the next other one; 0 for the same. */
export const minutesBetween = (start: string, end: string): number => (minutesOf(end) - minutesOf(start) + 1440) % 1440;

/** `1:30`, as a duration is typed. */
export const typedDuration = (minutes: number): string => `${Math.floor(minutes / 60)}:${two(minutes % 60)}`;

/** The minutes of `1:30`, `1.5`, `1,5 h`, `1 h 30 min` or `90 min`; null of anything else, and of a day and more. */
export function parseDuration(text: string): number | null {
  const clean = text.trim().toLowerCase().replace(',', '.');
  const [, hours, minutes] =
    /^(\d+):(\d\d)$/.exec(clean) ?? /^(?:(\d+(?:\.\d+)?) ?h?)?(?: ?(\d+) ?(?:m|min)?)?$/.exec(clean) ?? [];
  const bare = /^(\d+) ?(?:m|min)$/.exec(clean)?.[1];
  const sum = bare === undefined ? Number(hours ?? NaN) * 60 + Number(minutes ?? 0) : Number(bare);
  return Number.isFinite(sum) && sum > 0 && sum < 1440 ? Math.round(sum) : null;
}
