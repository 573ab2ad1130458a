import { isCalendarDay, timestamp } from '../../kernel/wire/moments.ts';
import { CellProblem, quote } from './cell-problem.ts';

/*
 * Dates, times and durations as the sources write them. What order dates have, and in what time zone times are, is stated.
 * No expression here reads the same white space twice: a cell with much of it must not block the process.
 */

export const dateOrders = ['DMY', 'MDY', 'YMD'] as const;
export type DateOrder = (typeof dateOrders)[number];

/** A time of a day on a local calendar. */
export type LocalTime = { day: string; seconds: number };

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const fullMonths =
  /^(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)$/;
const yearMin = 1970;

/** The day that a text names in an order; undefined if it names none. Years of two digits are those of this century. */
export function parseDay(text: string, order: DateOrder): string | undefined {
  const parts = text.toLowerCase().split(/[\s.,/-]+/);
  const at = (letter: string): string => parts[order.indexOf(letter)] ?? '';
  const year = /^\d{4}$/.test(at('Y')) ? at('Y') : /^\d\d$/.test(at('Y')) ? `20${at('Y')}` : '';
  const month = fullMonths.test(at('M')) ? String(months.indexOf(at('M').slice(0, 3)) + 1) : at('M');
  if (parts.length !== 3 || !/^\d{4}$/.test(year) || !/^\d\d?$/.test(month) || !/^\d\d?$/.test(at('D')))
    return undefined;
  const day = `${year}-${month.padStart(2, '0')}-${at('D').padStart(2, '0')}`;
  return Number(month) >= 1 && Number(month) <= 12 && isCalendarDay(day) && Number(year) >= yearMin ? day : undefined;
}

/** Seconds since midnight: `9:30`, `09:30:15`, `9:30 PM`. */
export function parseTime(text: string): number {
  const found = /^(\d\d?)[:.](\d\d)(?:[:.](\d\d)(?:\.\d+)?)?\s*(?:([ap])\.?m\.?)?$/i.exec(text);
  const [, hour = '', minute = '', second = '0', half] = found ?? [];
  const isRight = Number(minute) < 60 && Number(second) < 60 && (half ? +hour >= 1 && +hour <= 12 : +hour < 24);
  if (!found || !isRight) throw new CellProblem(`is no time such as 17:30 or 5:30 PM: ${quote(text)}`);
  const hours = half ? (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hour);
  return hours * 3600 + Number(minute) * 60 + Number(second);
}

/** Seconds: `1:30` and `26:03:00` in hours, minutes and seconds, `1.5` and `1,5` in hours, `1h 30m`. */
export function parseDuration(text: string): number {
  const [, sign = '', rest = ''] = /^([-−–]?)\s*(.*)$/s.exec(text)!;
  const seconds = secondsOf(rest);
  if (seconds === undefined || seconds > 1e8)
    throw new CellProblem(`is no duration such as 1:30:00, 1.5 or 1h 30m: ${quote(text)}`);
  if (sign !== '' && seconds > 0) throw new CellProblem(`is negative: ${quote(text)}`, 'out_of_range');
  return seconds;
}

function secondsOf(text: string): number | undefined {
  const clock = /^(\d{1,6}):([0-5]\d)(?::([0-5]\d))?$/.exec(text);
  if (clock) return Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3] ?? 0);
  const hours = /^(\d{1,6}(?:[.,]\d{1,6})?)\s*h?$/.exec(text);
  if (hours) return Math.round(Number(hours[1]!.replace(',', '.')) * 3600);
  const words = /^(?=\d)(?:(\d{1,6})\s*h\s*)?(?:(\d{1,6})\s*m(?:in)?\s*)?(?:(\d{1,8})\s*s)?$/i.exec(text);
  return words ? Number(words[1] ?? 0) * 3600 + Number(words[2] ?? 0) * 60 + Number(words[3] ?? 0) : undefined;
}

/** A timestamp with an offset, which needs neither an order nor a time zone. */
export function parseTimestamp(text: string): Date | undefined {
  return text.includes('T') ? timestamp.safeParse(text).data : undefined;
}

export type DateReader = {
  /** Reads a day; throws if it contradicts the stated order. */
  readDay(text: string): string;
  /** Reads a day and a time of one cell; midnight without a time. */
  readDayTime(text: string): LocalTime;
  /** The other orders that fit all dates so far, where the stated one does not fit several. */
  findFittingOrders(): DateOrder[];
};

export function createDateReader(stated: DateOrder): DateReader {
  const daysOf = new Map<string, Partial<Record<DateOrder, string>>>();

  function readDay(text: string): string {
    let days = daysOf.get(text);
    if (!days) daysOf.set(text, (days = Object.fromEntries(dateOrders.map((order) => [order, parseDay(text, order)]))));
    if (days[stated] !== undefined) return days[stated];
    throw new CellProblem(`is no date in the order ${stated}, from ${yearMin} on: ${quote(text)}`, 'invalid_value');
  }

  return {
    readDay,
    readDayTime(text) {
      const found = /[T\s](\d\d?:\d\d.*)$/s.exec(text);
      if (!found) return { day: readDay(text), seconds: 0 };
      return { day: readDay(text.slice(0, found.index).trimEnd()), seconds: parseTime(found[1]!) };
    },
    findFittingOrders() {
      const all = [...daysOf.values()];
      const fits = (order: DateOrder) => all.every((days) => days[order] !== undefined);
      return all.filter((days) => days[stated] === undefined).length < 2 ? [] : dateOrders.filter(fits);
    },
  };
}

const dayMs = 24 * 3600 * 1000;
const quarterMs = 15 * 60 * 1000;

export type Zone = {
  name: string;
  /** The moments at which clocks show a time: none where they skip it, two where they show it twice. */
  momentsAt(time: LocalTime): number[];
  dayOf(moment: Date): string;
};

export function createZone(name: string): Zone {
  const shown = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
  const offsets = new Map<number, number>();

  function offsetOf(quarter: number): number {
    let offset = offsets.get(quarter);
    if (offset === undefined) offsets.set(quarter, (offset = toOffset(shown.format(quarter * quarterMs))));
    return offset;
  }

  function offsetAt(moment: number): number {
    const quarter = Math.floor(moment / quarterMs);
    const offset = offsetOf(quarter);
    // Clocks may change within a quarter: those of St. John's did so at 00:01.
    return offset === offsetOf(quarter + 1) ? offset : toOffset(shown.format(moment));
  }

  return {
    name,
    momentsAt({ day, seconds }) {
      const local = Date.parse(`${day}T00:00:00Z`) + seconds * 1000;
      const around = [...new Set([offsetAt(local - dayMs), offsetAt(local + dayMs)])];
      return around
        .map((offset) => local - offset)
        .filter((moment) => local - moment === offsetAt(moment))
        .toSorted((a, b) => a - b);
    },
    dayOf: (moment) => new Date(moment.getTime() + offsetAt(moment.getTime())).toISOString().slice(0, 10),
  };
}

function toOffset(shown: string): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(shown)!;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}
