import { describe, expect, test } from 'vitest';
import { readMoment } from '../../client-sdk/examples/terminal/local-time.ts';
import { htmlOfText, plain, plainJson, plainLine, textOfHtml } from '../../client-sdk/examples/terminal/plain-text.ts';
import { readTable } from '../../client-sdk/examples/terminal/read-table.ts';
import { linesOf } from '../../client-sdk/examples/terminal/sentences.ts';
import { givenFile } from './run-script.ts';

describe('times', () => {
  test.each([
    ['2026-03-02T09:00:00+01:00', undefined, '2026-03-02T08:00:00.000Z'],
    ['2026-03-02 09:00Z', undefined, '2026-03-02T09:00:00.000Z'],
    ['2026-03-02T09:00:30.5-0530', undefined, '2026-03-02T14:30:30.500Z'],
    ['2026-03-02 09:00', 'Europe/Berlin', '2026-03-02T08:00:00.000Z'],
    ['2026-07-02 09:00', 'Europe/Berlin', '2026-07-02T07:00:00.000Z'],
    ['2026-07-02 09:00:15.250', 'Asia/Kathmandu', '2026-07-02T03:15:15.250Z'],
    // The hours on either side of those that the clocks skip and repeat.
    ['2026-03-29 01:59', 'Europe/Berlin', '2026-03-29T00:59:00.000Z'],
    ['2026-03-29 03:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
    ['2026-10-25 01:59', 'Europe/Berlin', '2026-10-24T23:59:00.000Z'],
    ['2026-10-25 03:00', 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
    // A day that was left out there.
    ['2011-12-31 00:30', 'Pacific/Apia', '2011-12-30T10:30:00.000Z'],
  ])('reads %s in %s', (text, timezone, moment) => {
    expect(readMoment(text, timezone)).toEqual({ moment: new Date(moment) });
  });

  test.each([
    ['2026-03-29 02:30', 'Europe/Berlin', 'does not exist in Europe/Berlin'],
    ['2026-10-25 02:30', 'Europe/Berlin', 'comes twice in Europe/Berlin'],
    ['2026-03-02 09:00', undefined, 'has no offset'],
    ['2026-02-30 09:00Z', undefined, 'is no time'],
    ['2026-03-02 24:00Z', undefined, 'is no time'],
    ['2026-03-02T09:00+99:99', undefined, 'has no valid offset'],
    ['02.03.2026 09:00', 'Europe/Berlin', 'is no time'],
    ['', 'Europe/Berlin', 'is no time'],
  ])('refuses %s in %s rather than guess', (text, timezone, problem) => {
    expect(readMoment(text, timezone).problem).toContain(problem);
  });
});

describe('tables', () => {
  const shape = { columns: ['name', 'note'], required: [['name']] } as const;

  test.each([
    ['commas', 'Name,Note\n"Ada, Lovelace","said ""hm"""\n'],
    ['semicolons, a byte order mark and CRLF', '\u{feff}name;note\r\nAda, Lovelace;"said ""hm"""\r\n'],
    ['tabs, and columns in another order', 'NOTE\tname\n"said ""hm"""\tAda, Lovelace'],
  ])('are read with %s', async (what, text) => {
    const table = await readTable(await givenFile(`${what.length}.csv`, text), shape);
    expect(table).toMatchObject({
      problems: [],
      rows: [{ line: 2, cells: { name: 'Ada, Lovelace', note: 'said "hm"' } }],
    });
  });

  test('know the line of each row, over empty lines and line ends in quotes', async () => {
    const text = 'name,note\nAda,"one\ntwo\r\nthree"\n\n,\nGrace,\nAlan,four,five\nKurt\n';
    const { rows, problems } = await readTable(await givenFile('lines.csv', text), shape);
    expect(rows.map(({ line, cells }) => [line, cells.name])).toEqual([
      [2, 'Ada'],
      [7, 'Grace'],
      [8, 'Alan'],
      [9, 'Kurt'],
    ]);
    expect(problems).toEqual([
      { line: 8, problem: 'has 3 cells, the header has 2' },
      { line: 9, problem: 'has 1 cells, the header has 2' },
    ]);
  });

  test('find a column by what the file calls it', async () => {
    const path = await givenFile('theirs.csv', 'Who did it,note\nAda,x\n');
    const { rows } = await readTable(path, { ...shape, renames: ['name=who did it'] });
    expect(rows[0]!.cells.name).toBe('Ada');
    await expect(readTable(path, shape)).rejects.toThrow('has no column name, only "Who did it", "note"');
    await expect(readTable(path, { ...shape, renames: ['name=Who'] })).rejects.toThrow('has no column Who');
    await expect(readTable(path, { ...shape, renames: ['who=Who'] })).rejects.toThrow(
      '--column takes one of name, note',
    );
  });

  test.each([
    ['an empty file', '', 'is empty'],
    ['an open quote', 'name,note\nAda,"x\n', 'is no valid CSV: Quote Not Closed'],
    ['a column that comes twice', 'name,Name\nAda,x\n', 'has the column name more than once'],
    ['what is not UTF-8', Uint8Array.from([0x6e, 0xe9, 0x0a]), 'is not UTF-8'],
  ])('refuse %s', async (_what, content, problem) => {
    await expect(readTable(await givenFile('bad.csv', content), shape)).rejects.toThrow(problem);
  });
});

describe('text of others', () => {
  test('cannot steer the terminal', () => {
    expect(plain('a\u001B[2Jb\u009B1m\u0007c\rd\u202Ee\tf\ng')).toBe(
      'a\u{fffd}[2Jb\u{fffd}1m\u{fffd}c\u{fffd}d\u{fffd}e\tf\ng',
    );
    expect(plainLine(' Ada\n\u001B]0;x\u0007 Lovelace ')).toBe('Ada \u{fffd}]0;x\u{fffd} Lovelace');
    // Joiners and marks that languages need stay.
    expect(plain('👩‍💻 שלום é می‌خواهم')).toBe('👩‍💻 שלום é می‌خواهم');
  });

  test('is escaped in JSON, and means the same there', () => {
    const value = { text: 'a\u009Bb\u007F\u202E"\n', list: [1] };
    const json = plainJson(value, 2);
    expect(JSON.parse(json)).toEqual(value);
    expect(json).not.toMatch(/[\u007F-\u009F\u202E]/);
  });

  test('is read from messages as it is meant', () => {
    const html =
      '<p>Hello <strong>Grace</strong> &amp;amp; <a href="https://a.example/?x=1&amp;y=2" rel="noopener">this</a></p>' +
      '<ul><li>one</li><li>two</li></ul><p>a<br />b &lt;b&gt; &#233;&#x1b;[2J <a href="https://b.example">https://b.example</a></p>';
    expect(textOfHtml(html)).toBe(
      'Hello Grace &amp; this (https://a.example/?x=1&y=2)\n\n- one\n- two\n\na\nb <b> é\u{fffd}[2J https://b.example',
    );
    expect(textOfHtml(htmlOfText('1 < 2 && "x" > <b>'))).toBe('1 < 2 && "x" > <b>');
  });
});

test('lines are named by ranges', () => {
  expect(linesOf([7])).toBe('line 7');
  expect(linesOf([5, 3, 2, 4, 9])).toBe('lines 2-5, 9');
  const scattered = Array.from({ length: 22 }, (_, index) => 2 * index);
  expect(linesOf(scattered)).toMatch(/^lines 0, 2, .*, 38 and 2 more ranges$/);
});
