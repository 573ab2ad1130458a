import { expect, onTestFinished, test, vi } from 'vitest';
import { exactMatcher, excerptAround, markMatches, slipMatcher } from '../../../server/features/search/highlights.ts';
import { readQuery } from '../../../server/features/search/terms.ts';
import { guessOf } from '../../../server/features/search/typos.ts';

const marked = (text: string, q: string): string[] =>
  markMatches(text, exactMatcher(readQuery(q))).map(({ start, end }) => text.slice(start, end));

test.each([
  ['Cut the Gears and gear boxes', 'gear', ['Gear', 'gear']],
  ['naïve FAÇADE', 'naive facade', ['naïve', 'FAÇADE']],
  ['cafe\u0301 cafés', 'café', ['cafe\u0301', 'café']],
  ['Straße, strasse', 'straß', ['Straß', 'strass']],
  ['👩‍👩‍👧 launch 🚀 launched', 'launch', ['launch', 'launch']],
  ['新しい東京タワー、東京駅', '東京', ['東京', '東京']],
  ['ﬁnal plan', 'fin', ['ﬁn']],
  ['ﬁnal plan', 'f', []],
  ['internationalisations', 'internationalisation', ['internationalisation']],
  ['ガス', 'カ', []],
])('of %s with %s', (text, q, expected) => {
  expect(marked(text, q)).toEqual(expected);
});

test('ranges are in UTF-16 code units, in order, and never overlap', () => {
  const ranges = markMatches('🚀🚀 東京東京 gears', exactMatcher(readQuery('京 東京 gea gears')));
  expect(ranges).toEqual([
    { start: 5, end: 7 },
    { start: 7, end: 9 },
    { start: 10, end: 15 },
  ]);
});

test('a word with a slip is marked whole', () => {
  const guess = guessOf(readQuery('recieve'))!;
  const text = 'we receive and received';
  const ranges = markMatches(text, slipMatcher(guess.rest, guess.alternatives));
  expect(ranges.map(({ start, end }) => text.slice(start, end))).toEqual(['receive', 'received']);
});

test('an excerpt lies around the first match and never splits a character', () => {
  const text = `${'😀'.repeat(200)}\nneedle ${'😀'.repeat(200)}`;
  const excerpt = excerptAround(text, exactMatcher(readQuery('needle')))!;
  expect(excerpt.text.isWellFormed()).toBe(true);
  expect(excerpt.text.length).toBeLessThanOrEqual(170);
  expect(excerpt.ranges.map(({ start, end }) => excerpt.text.slice(start, end))).toEqual(['needle']);
  expect(excerptAround('nothing here', exactMatcher(readQuery('needle')))).toBeNull();
});

test('a long text is normalized by its different characters, and one in ASCII not at all', () => {
  const query = exactMatcher(readQuery('zebra'));
  const normalize = vi.spyOn(String.prototype, 'normalize');
  onTestFinished(() => normalize.mockRestore());
  expect(markMatches('gear & Zebra '.repeat(600), query)).toHaveLength(600);
  expect(normalize).not.toHaveBeenCalled();
  expect(markMatches('été zebra '.repeat(600), query)).toHaveLength(600);
  expect(normalize.mock.calls.length).toBeLessThan(20);
});
