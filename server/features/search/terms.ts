/*
 * What is searched for, in the terms of the index: db/migrations/0034-search.ts computes those of rows by the same rules, and
 * test/features/search/terms.test.ts compares both.
 */

/** Characters of scripts that have no spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean. */
const unspaced =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u318f\\u31a0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff' +
  '\\ua960-\\ua97f\\uac00-\\ud7ff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}';
const spaced =
  '0-9a-z\\u00aa\\u00b5\\u00ba\\u00c0-\\u0dff\\u0f00-\\u0fff\\u10a0-\\u177f\\u1800-\\u1fff\\u2c00-\\u2dff\\ua000-\\ua95f\\ua980-\\uabff' +
  '\\ufb00-\\ufdff\\u{10000}-\\u{1efff}';

/** The words of a folded text: `word` of a script with spaces, `run` of one without. */
const parts = new RegExp(`(?<run>[${unspaced}]+)|(?<word>[${spaced}]+)`, 'gu');

/** Words are told apart by so many letters. */
const lettersMax = 12;

const plainLetters: Record<string, string> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ı: 'i',
  ς: 'σ',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
};

/** Without case, accents and forms of one letter. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[øłđðıςßæœþ]/g, (letter) => plainLetters[letter]!);
}

export type Part = { text: string; isRun: boolean; start: number };

/** The words and runs of a folded text, with their places in it. */
export function partsOf(folded: string): Part[] {
  return Array.from(folded.matchAll(parts), ({ 0: text, index, groups }) => ({
    text,
    isRun: groups!['run'] !== undefined,
    start: index,
  }));
}

/** What a caller searches for. */
export type Query = {
  /** The whole of it, its words separated by single spaces. */
  plain: string;
  words: string[];
  runs: string[];
};

export function readQuery(q: string): Query {
  const found = partsOf(foldText(q));
  const distinct = (isRun: boolean) => [
    ...new Set(found.filter((part) => part.isRun === isRun).map(({ text }) => text)),
  ];
  return { plain: found.map(({ text }) => text).join(' '), words: distinct(false), runs: distinct(true) };
}

/** The beginning of a word that the index has. */
export const indexedPart = (word: string): string =>
  word.length <= lettersMax ? word : Array.from(word).slice(0, lettersMax).join('');

/** The terms that a row must have for a run: all pairs of its characters, or its only one. */
export function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  return characters.length === 1 ? characters : characters.slice(1).map((next, index) => characters[index]! + next);
}

/** The terms of a query. */
export function termsOf({ words, runs }: Pick<Query, 'words' | 'runs'>): string[] {
  return [...new Set([...words.map(indexedPart), ...runs.flatMap(pairsOf)])];
}
