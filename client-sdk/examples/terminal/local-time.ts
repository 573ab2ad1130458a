import { UsageProblem } from './problem.ts';

const form = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

/** A moment, or in words what is wrong with it. */
export type ReadMoment = { moment: Date; problem?: undefined } | { problem: string };

/**
 * Reads `2026-03-02T09:00:00+01:00` and the like; without an offset it is the local time of `timezone`, and one that the
 * clocks skip or show twice there is refused rather than guessed.
 */
export function readMoment(text: string, timezone: string | undefined): ReadMoment {
  const [, day, minutes, seconds = ':00', offset] = form.exec(text) ?? [];
  const local = `${day}T${minutes}${seconds}`;
  const asUtc = Date.parse(`${local}Z`);
  // Date.parse takes February 30 for March 2.
  if (Number.isNaN(asUtc) || !new Date(asUtc).toISOString().startsWith(day!) || minutes! >= '24')
    return { problem: `"${text}" is no time such as 2026-03-02T09:00:00+01:00 or 2026-03-02 09:00` };
  if (offset !== undefined) return readWithOffset(local, offset, text);
  if (timezone === undefined)
    return { problem: `"${text}" has no offset: write one, or give --timezone Europe/Berlin` };

  // What the clocks there show a day before and a day after are all offsets that there can be.
  const offsets = [asUtc - dayMs, asUtc + dayMs].map((near) => wallClockOf(near, timezone) - near);
  const moments = [...new Set(offsets)].map((ms) => asUtc - ms).filter((at) => wallClockOf(at, timezone) === asUtc);
  if (moments.length === 0) return { problem: `"${text}" does not exist in ${timezone}, where clocks went forward` };
  if (moments.length > 1)
    return { problem: `"${text}" comes twice in ${timezone}, where clocks went back: write an offset` };
  return { moment: new Date(moments[0]!) };
}

const dayMs = 24 * 3600 * 1000;

function readWithOffset(local: string, offset: string, text: string): ReadMoment {
  const [, hours, minutes = '00'] = /^([+-]\d{2}):?(\d{2})?$/.exec(offset) ?? [];
  const moment = new Date(hours === undefined ? `${local}Z` : `${local}${hours}:${minutes}`);
  return Number.isNaN(moment.getTime()) ? { problem: `"${text}" has no valid offset` } : { moment };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** What clocks in a time zone show at a moment, as if they were in UTC. */
function wallClockOf(at: number, timezone: string): number {
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('en-u-ca-iso8601', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  formats.set(timezone, format);
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, second } = parts;
  const milliseconds = ((at % 1000) + 1000) % 1000;
  return Date.parse(`${year!.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}Z`) + milliseconds;
}

/** Refuses what is no time zone. */
export function checkTimezone(timezone: string | undefined): void {
  if (timezone === undefined) return;
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone }).format();
  } catch {
    throw new UsageProblem(`--timezone takes a name such as Europe/Berlin, not "${timezone}"`);
  }
}
