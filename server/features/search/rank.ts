import type { Candidate } from './candidates.ts';
import { kinds } from './kinds.ts';
import { foldText, indexedPart, partsOf, type Query } from './terms.ts';

/*
 * How well rows match, the best first: the very name, names that begin with what was typed, names with all its words, names with
 * words that begin so, matches in other texts, and those with a slip in a word. Within these people come before projects,
 * tasks and comments, and newer ones before older ones.
 */

/** The place of a match in the order. */
export type Place = { tier: number; kind: number; id: number };
export type Ranked = Candidate & { place: Place; hasSlip: boolean };

export function rankCandidates(candidates: Candidate[], query: Query, { hasSlip }: { hasSlip: boolean }): Ranked[] {
  return candidates.map((candidate) => ({
    ...candidate,
    hasSlip,
    place: {
      tier: hasSlip ? 5 : tierOf(candidate, query),
      kind: kinds.indexOf(candidate.kind),
      id: candidate.id,
    },
  }));
}

function tierOf({ name }: Candidate, { plain, words, runs }: Query): number {
  const parts = partsOf(foldText(name)).map(({ text }) => text);
  const named = parts.join(' ');
  if (named === plain) return 0;
  if (named.startsWith(plain)) return 1;
  if (!runs.every((run) => parts.some((part) => part.includes(run)))) return 4;
  if (words.every((word) => parts.includes(word))) return 2;
  return words.every((word) => parts.some((part) => beginsWith(part, word))) ? 3 : 4;
}

const beginsWith = (part: string, word: string): boolean =>
  word.length === 1 ? part === word : part.startsWith(indexedPart(word));

/** Whether `a` comes before `b` (negative) or after it (positive). */
export const comparePlaces = (a: Place, b: Place): number => a.tier - b.tier || a.kind - b.kind || b.id - a.id;
