import { foldText, indexedPart, partsOf, type Part, type Query } from './terms.ts';

/** A part of a text, in UTF-16 code units: from `start` up to but not including `end`. */
export type Range = { start: number; end: number };
export type Marked = { text: string; ranges: Range[] };

/** What makes a word one of those that were searched for: how many of its letters, 0 for none. */
export type Matcher = { lettersOf(word: string): number; runs: readonly string[] };

/** Of a query as it was typed. */
export function exactMatcher({ words, runs }: Pick<Query, 'words' | 'runs'>): Matcher {
  const lettersOf = (word: string): number =>
    Math.max(
      0,
      ...words.map((wanted) => {
        if (wanted.length === 1) return word === wanted ? 1 : 0;
        if (word.startsWith(wanted)) return wanted.length;
        return word.startsWith(indexedPart(wanted)) ? indexedPart(wanted).length : 0;
      }),
    );
  return { lettersOf, runs };
}

/** Of a query whose words may have slips: see typos.ts. */
export function slipMatcher(rest: Pick<Query, 'words' | 'runs'>, alternatives: string[][]): Matcher {
  const exact = exactMatcher(rest);
  const slips = new Set(alternatives.flat());
  const beginsWithSlip = (word: string): boolean => {
    const letters = Array.from(word).slice(0, 12);
    return letters.some((_, index) => slips.has(letters.slice(0, index + 1).join('')));
  };
  return { lettersOf: (word) => (beginsWithSlip(word) ? word.length : exact.lettersOf(word)), runs: rest.runs };
}

/** A text without case and accents, and the place in the original of each of its code units, and of its end. */
type Folded = { text: string; places: number[] };

function foldWithPlaces(text: string): Folded {
  if (ascii.test(text))
    return { text: text.toLowerCase(), places: Array.from({ length: text.length + 1 }, (_, at) => at) };
  let folded = '';
  const places: number[] = [];
  // To normalize each character of a page of long texts would hold up all other callers for most of a second.
  const known = new Map<string, string>();
  for (const { 0: cluster, index } of text.matchAll(clusters)) {
    const part = known.get(cluster) ?? foldText(cluster);
    known.set(cluster, part);
    for (let unit = 0; unit < part.length; unit += 1) places.push(index);
    folded += part;
  }
  places.push(text.length);
  return { text: folded, places };
}

const ascii = /^[\0-\x7f]*$/;

/** Characters with the marks that stand on them; a Korean syllable that is written in parts. */
const clusters = /[\u1100-\u115f][\u1160-\u11ff]*\p{M}*|\P{M}\p{M}*|\p{M}+/gsu;

/** Marks what matches in a text, in the order of the text and without overlaps. */
export function markMatches(text: string, matcher: Matcher): Range[] {
  const { text: folded, places } = foldWithPlaces(text);
  const found: Range[] = [];
  for (const part of partsOf(folded)) for (const { start, end } of matchesIn(part, matcher)) found.push({ start, end });
  const ranges: Range[] = [];
  for (const { start, end } of found.toSorted((a, b) => a.start - b.start)) {
    const range = { start: places[start]!, end: endAt(places, end) };
    const last = ranges.at(-1);
    if (last && range.start < last.end) last.end = Math.max(last.end, range.end);
    else if (range.end > range.start) ranges.push(range);
  }
  return ranges;
}

/** Where the character before a place of the folded text ends in the original. */
function endAt(places: number[], end: number): number {
  const last = places[end - 1]!;
  let next = end;
  while (places[next] === last) next += 1;
  return places[next]!;
}

function matchesIn({ text, isRun, start }: Part, { lettersOf, runs }: Matcher): Range[] {
  if (!isRun) {
    const letters = lettersOf(text);
    return letters === 0 ? [] : [{ start, end: start + letters }];
  }
  return runs.flatMap((run) => {
    const ranges: Range[] = [];
    for (let at = text.indexOf(run); at !== -1; at = text.indexOf(run, at + run.length))
      ranges.push({ start: start + at, end: start + at + run.length });
    return ranges;
  });
}

const excerptMax = 160;
/** So much is shown before the first match. */
const leadMax = 50;

/** The part of a text around its first match; null if nothing of it matches. */
export function excerptAround(text: string, matcher: Matcher): Marked | null {
  const ranges = markMatches(text, matcher);
  const first = ranges[0];
  if (!first) return null;
  const start = first.start <= leadMax ? 0 : cutAt(text, first.start - leadMax, first.start);
  const whole = Math.min(text.length, start + excerptMax);
  const end = whole === text.length ? whole : cutBefore(text, whole, Math.min(first.end, whole));
  const lead = start > 0 ? '…' : '';
  const shift = lead.length - start;
  return {
    text: `${lead}${text.slice(start, end).replaceAll(/\s/g, ' ')}${end < text.length ? '…' : ''}`,
    ranges: ranges
      .filter((range) => range.start < end)
      .map((range) => ({ start: range.start + shift, end: Math.min(range.end, end) + shift })),
  };
}

/** The beginning of a word from a place on, else of a whole character. */
function cutAt(text: string, from: number, before: number): number {
  const space = text.slice(from, before).search(/\s\S/);
  return space === -1 ? wholeCharacter(text, from) : from + space + 1;
}

/** The end of a word up to a place, else of a whole character. */
function cutBefore(text: string, place: number, after: number): number {
  const end = text.slice(after, place + 1).search(/\s\S*$/);
  return end <= 0 ? wholeCharacter(text, place) : after + end;
}

/** The same place, or the one before where it is inside a character of two code units. */
const wholeCharacter = (text: string, place: number): number =>
  /[\udc00-\udfff]/.test(text.charAt(place)) && /[\ud800-\udbff]/.test(text.charAt(place - 1)) ? place - 1 : place;
