/** The seconds of `1h30m`, `90m`, `1.5h` or `1:30`; undefined if a text is no duration. */
export function parseDuration(text: string): number | undefined {
  const [, hours, minutes] = /^(?:(\d+(?:\.\d+)?)h)?\s?(?:(\d+(?:\.\d+)?)m(?:in)?)?$/i.exec(text) ?? [];
  if (hours !== undefined || minutes !== undefined)
    return inRange(Math.round(Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60));
  const [, whole, rest] = /^(\d{1,2}):([0-5]\d)$/.exec(text) ?? [];
  return whole === undefined ? undefined : inRange(Number(whole) * 3600 + Number(rest) * 60);
}

/** A log lasts a day at most. */
const inRange = (seconds: number): number | undefined => (seconds > 0 && seconds <= 24 * 3600 ? seconds : undefined);

/** `1 h 30 min`, for people. */
export function durationText(seconds: number): string {
  if (seconds < 0) return `-${durationText(-seconds)}`;
  const minutes = Math.round(seconds / 60);
  if (minutes === 0) return seconds === 0 ? '0 h' : `${Math.round(seconds)} s`;
  const parts = [Math.floor(minutes / 60), minutes % 60];
  return [parts[0] === 0 ? '' : `${parts[0]} h`, parts[1] === 0 ? '' : `${parts[1]} min`].filter(Boolean).join(' ');
}

/** The day of `today`, `yesterday` or `2026-03-02` by the clocks here: its first moment. */
export function parseDay(text: string, now: Date): Date | undefined {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  if (text === 'today') return today;
  if (text === 'yesterday') return nextDay(today, -1);
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const at = new Date(Number(year), Number(month) - 1, Number(day));
  // February 30 would be March 2.
  return at.getMonth() === Number(month) - 1 && at.getDate() === Number(day) ? at : undefined;
}

/** Days are not always 24 hours long. */
export function nextDay(day: Date, days = 1): Date {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days);
}

export type Span = { start: number; end: number };

/**
 * Where time without a clock is put on its day, so that it overlaps nothing that is logged: today as late as it can be
 * until now, and then it may begin before midnight; on another day as early as it can be from nine. Undefined if there is
 * no room.
 */
export function findRoom(lengthMs: number, day: Date, taken: readonly Span[], now: Date): Span | undefined {
  const end = nextDay(day).getTime();
  const isToday = now.getTime() >= day.getTime() && now.getTime() < end;
  const nine = new Date(day.getFullYear(), day.getMonth(), day.getDate(), 9).getTime();
  const busy = taken.toSorted((a, b) => a.start - b.start);
  if (isToday) {
    let latest = now.getTime();
    for (const span of busy.toReversed()) if (span.end > latest - lengthMs && span.start < latest) latest = span.start;
    return latest > day.getTime() ? { start: latest - lengthMs, end: latest } : undefined;
  }
  for (const from of [nine, day.getTime()]) {
    let earliest = from;
    for (const span of busy) if (span.start < earliest + lengthMs && span.end > earliest) earliest = span.end;
    if (earliest + lengthMs <= end) return { start: earliest, end: earliest + lengthMs };
  }
  return undefined;
}
