import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createDateReader,
  createZone,
  dateOrders,
  parseDay,
  parseDuration,
  parseTime,
  type DateOrder,
} from '../../../server/features/csv-imports/local-time.ts';

/* Dates, times and durations as they stand in files. */

const days = fc
  .date({ min: new Date('1970-01-01T00:00:00Z'), max: new Date('2099-12-31T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const english = ['Jan', 'February', 'mar', 'April', 'MAY', 'June', 'Jul', 'August', 'Sept', 'Oct', 'November', 'Dec'];

const write = (day: string, order: DateOrder, separator: string, parts = day.split('-')): string =>
  order
    .split('')
    .map((letter) => parts['YMD'.indexOf(letter)])
    .join(separator);

describe('a date', () => {
  test('is the day that it says in its order, however it is separated and padded', () => {
    const separators = fc.constantFrom('-', '/', '.', ' ', ', ', '. ');
    fc.assert(
      fc.property(days, fc.constantFrom(...dateOrders), separators, fc.boolean(), (day, order, separator, isPadded) => {
        const parts = day.split('-').map((part) => (isPadded ? part : String(Number(part))));
        expect(parseDay(write(day, order, separator, parts), order)).toBe(day);
        const [year, month, date] = parts as [string, string, string];
        expect(parseDay(write(day, order, separator, [year, english[Number(month) - 1]!, date]), order)).toBe(day);
      }),
    );
  });

  test('is never another day: in another order it is that day there, or none', () => {
    fc.assert(
      fc.property(days, fc.constantFrom(...dateOrders), fc.constantFrom(...dateOrders), (day, written, stated) => {
        const read = parseDay(write(day, written, '/'), stated);
        const [year, month, date] = day.split('-') as [string, string, string];
        const isSwapped = written !== 'YMD' && stated !== 'YMD' && Number(date) <= 12;
        expect(read).toBe(written === stated ? day : isSwapped ? `${year}-${date}-${month}` : undefined);
      }),
    );
  });

  test.each([
    ['31/Feb/26', 'DMY'],
    ['29.02.2025', 'DMY'],
    ['00/01/2026', 'DMY'],
    ['1/13/2026', 'DMY'],
    ['14/Dez/25', 'DMY'],
    ['2026-3-2-1', 'YMD'],
    ['2026-03', 'YMD'],
    ['20260302', 'YMD'],
    ['02/03/126', 'DMY'],
    ['31/12/1969', 'DMY'],
    ['=02/03/2026', 'DMY'],
    ['', 'DMY'],
    ['١/٢/٢٠٢٦', 'DMY'],
    [`${'1/'.repeat(5_000)}1`, 'MDY'],
  ] as const)('%s is none in the order %s', (text, order) => {
    expect(parseDay(text, order)).toBeUndefined();
  });

  test('of two digits for the year is one of this century', () => {
    expect(['14/Jul/25', '1.2.00', '31-12-99'].map((text) => parseDay(text, 'DMY'))).toEqual([
      '2025-07-14',
      '2000-02-01',
      '2099-12-31',
    ]);
  });

  test('that contradicts the stated order, as others do, says which order would fit', () => {
    const read = (stated: DateOrder, texts: string[]): DateOrder[] => {
      const reader = createDateReader(stated);
      for (const text of texts)
        try {
          reader.readDay(text);
        } catch {
          // The row has an error.
        }
      return reader.findFittingOrders();
    };
    expect(read('MDY', ['02/03/2026', '13/03/2026', '28/03/2026'])).toEqual(['DMY']);
    expect(read('DMY', ['2026-03-02', '2026-03-03'])).toEqual(['YMD']);
    expect(read('YMD', ['02/03/2026', '03/04/2026'])).toEqual(['DMY', 'MDY']);
    expect(read('MDY', ['02/03/2026', '13/03/2026'])).toEqual([]);
    expect(read('MDY', ['13/03/2026', '28/03/2026', '2026-03-03'])).toEqual([]);
    expect(read('DMY', ['13/03/2026', '28/03/2026'])).toEqual([]);
  });
});

describe('a time', () => {
  test('is that of a clock of 24 or 12 hours', () => {
    fc.assert(
      fc.property(fc.nat({ max: 86_399 }), fc.constantFrom(' ', '', '\u202F'), (seconds, space) => {
        const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
        const rest = [minute, second].map((part) => String(part).padStart(2, '0')).join(':');
        expect(parseTime(`${hour}:${rest}`)).toBe(seconds);
        const half = hour < 12 ? 'AM' : 'p.m.';
        expect(parseTime(`${hour % 12 === 0 ? 12 : hour % 12}:${rest}${space}${half}`)).toBe(seconds);
      }),
    );
  });

  test.each(['24:00', '9', '09:60', '09:00:60', '0:30 AM', '13:00 PM', '9:00 Uhr', '-1:00', '', '09:00+01:00'])(
    '%s is none',
    (text) => {
      expect(() => parseTime(text)).toThrow('is no time');
    },
  );
});

describe('a duration', () => {
  test('is what it says as hours, minutes and seconds, also beyond a day', () => {
    fc.assert(
      fc.property(fc.nat({ max: 3_600_000 }), (seconds) => {
        const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
        const padded = [minutes, rest].map((part) => String(part).padStart(2, '0')).join(':');
        expect(parseDuration(`${hours}:${padded}`)).toBe(seconds);
        expect(parseDuration(`${hours}h ${minutes}m ${rest}s`)).toBe(seconds);
      }),
    );
  });

  test('is decimal with a dot or a comma', () => {
    fc.assert(
      fc.property(fc.nat({ max: 100_000 }), (hundredths) => {
        const text = (hundredths / 100).toFixed(2);
        expect(parseDuration(text)).toBe(hundredths * 36);
        expect(parseDuration(`${text.replace('.', ',')} h`)).toBe(hundredths * 36);
      }),
    );
  });

  test.each([
    ['26:03:00', 93_780],
    ['600:00', 2_160_000],
    ['1:30', 5_400],
    ['0', 0],
    ['00:00:00', 0],
    ['-0:00', 0],
    ['90 min', 5_400],
    ['1 h  30 m 15 s', 5_415],
    ['1h15s', 3_615],
    ['45s', 45],
  ])('%s is %i seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each(['-1:30', '−0.5', '– 2h'])('%s is negative', (text) => {
    expect(() => parseDuration(text)).toThrow('is negative');
  });

  test.each(['', '1:75', 'h', '1.2.3', '1e3', 'Infinity', '1:30:00:00', '9999999:00', '1,234.5', 'half'])(
    '%s is none',
    (text) => {
      expect(() => parseDuration(text)).toThrow('is no duration');
    },
  );
});

test('a text that is none is refused in a time that grows with its length alone', () => {
  const spaces = ' '.repeat(100_000);
  const { readDayTime } = createDateReader('YMD');
  const reads = [
    () => parseDuration(`1h${spaces}x`),
    () => parseDuration(`1${spaces}x`),
    () => parseTime(`9:00${spaces}x`),
    () => readDayTime(`2026-03-02${spaces}x`),
  ];
  const before = performance.now();
  for (const read of reads) expect(read).toThrow('is no');
  expect(performance.now() - before).toBeLessThan(1_000);
});

describe('a local time', () => {
  const at = (zone: string, day: string, hour: number, minute = 0): string[] =>
    createZone(zone)
      .momentsAt({ day, seconds: hour * 3600 + minute * 60 })
      .map((moment) => new Date(moment).toISOString());

  test('is the moments at which clocks there show it', () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    fc.assert(
      fc.property(zones, fc.integer({ min: 0, max: 4_000_000_000 }), (name, seconds) => {
        const shown = new Intl.DateTimeFormat('sv', { timeZone: name, dateStyle: 'short', timeStyle: 'medium' });
        const [day, time] = shown.format(seconds * 1000).split(' ') as [string, string];
        const zone = createZone(name);
        const moments = zone.momentsAt({ day, seconds: parseTime(time) });
        expect(moments).toContain(seconds * 1000);
        for (const moment of moments) expect(shown.format(moment)).toBe(`${day} ${time}`);
        expect(zone.dayOf(new Date(seconds * 1000))).toBe(day);
      }),
    );
  });

  test('is none where clocks are put forward, and two where they are put back', () => {
    expect(at('Europe/Berlin', '2026-03-29', 2, 30)).toEqual([]);
    expect(at('Europe/Berlin', '2026-03-29', 3)).toEqual(['2026-03-29T01:00:00.000Z']);
    expect(at('Europe/Berlin', '2026-10-25', 2, 30)).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']);
    expect(at('America/New_York', '2026-11-01', 1)).toEqual(['2026-11-01T05:00:00.000Z', '2026-11-01T06:00:00.000Z']);
    expect(at('Australia/Lord_Howe', '2026-10-04', 2, 15)).toEqual([]);
    // A minute after midnight, and forty-four and a half of them after it in UTC.
    expect(at('America/St_Johns', '2006-04-02', 0, 5)).toEqual([]);
    expect(at('America/St_Johns', '2006-04-02', 1, 5)).toEqual(['2006-04-02T03:35:00.000Z']);
    expect(at('America/St_Johns', '2006-10-28', 23, 5)).toEqual([
      '2006-10-29T01:35:00.000Z',
      '2006-10-29T02:35:00.000Z',
    ]);
    expect(at('Africa/Monrovia', '1972-01-07', 0, 44)).toEqual([]);
    expect(at('Africa/Monrovia', '1972-01-07', 0, 45)).toEqual(['1972-01-07T00:45:00.000Z']);
    // The calendar of Apia has no such day.
    expect(at('Pacific/Apia', '2011-12-30', 12)).toEqual([]);
  });
});
