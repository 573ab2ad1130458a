import { indexedPart, type Query } from './terms.ts';

/*
 * Words that are one slip away from what was typed: a letter too much, too few, another one, or two that changed places. They
 * are looked up as they are, which takes a few hundred look-ups in the index and no scan of similar texts.
 */

/** Shorter words are one slip away from too many others. */
const lettersMin = 4;
/** Of so many words of a query, the longest, each may have a slip. */
const wordsMax = 3;

const alphabets = [
  'abcdefghijklmnopqrstuvwxyz',
  'абвгдежзиклмнопрстуфхцчшщъыьэюя',
  'αβγδεζηθικλμνξοπρστυφχψω',
  'אבגדהוזחטיכלמנסעפצקרשת',
  'ابتثجحخدذرزسشصضطظعغفقكلمنهوي',
];

/** A query with the words that may be meant instead of some of its words. */
export type Guess = {
  /** What rows must have all the same. */
  rest: Pick<Query, 'words' | 'runs'>;
  /** For each of the other words what it may be, itself included. */
  alternatives: string[][];
};

/** Undefined for a query without a word that is long enough. */
export function guessOf({ words, runs }: Query): Guess | undefined {
  const mistakable = words
    .filter((word) => /^\p{L}+$/u.test(word) && Array.from(word).length >= lettersMin)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, wordsMax);
  if (mistakable.length === 0) return undefined;
  return {
    rest: { words: words.filter((word) => !mistakable.includes(word)), runs },
    alternatives: mistakable.map(slipsOf),
  };
}

function slipsOf(word: string): string[] {
  const letters = Array.from(indexedPart(word));
  const alphabet = Array.from(alphabets.find((one) => letters.some((letter) => one.includes(letter))) ?? '');
  const found = new Set([letters.join('')]);
  for (let at = 0; at <= letters.length; at += 1) {
    const before = letters.slice(0, at);
    const [here, next, ...after] = letters.slice(at);
    const add = (...middle: string[]) => void found.add(indexedPart([...before, ...middle].join('')));
    for (const letter of alphabet) add(letter, ...letters.slice(at));
    if (here === undefined) continue;
    const rest = next === undefined ? [] : [next, ...after];
    add(...rest);
    for (const letter of alphabet) add(letter, ...rest);
    if (next !== undefined) add(next, here, ...after);
  }
  return [...found].filter((slip) => Array.from(slip).length >= lettersMin);
}
