import type { Db } from '../../../db/open.ts';
import { findCandidates, type Candidate, type Scope } from './candidates.ts';
import { exactMatcher, slipMatcher, type Matcher } from './highlights.ts';
import { kinds, type SearchKind } from './kinds.ts';
import { comparePlaces, rankCandidates, type Place, type Ranked } from './rank.ts';
import type { Query } from './terms.ts';
import { guessOf } from './typos.ts';

/** With fewer matches the words may have slips. */
const enough = 10;

export type Matches = {
  /** The best first, those after the given place. */
  ranked: Ranked[];
  upTo: Record<SearchKind, number>;
  /** What marks the matches of a result, by whether it was found by a slip. */
  exact: Matcher;
  slips: Matcher;
};

export async function findMatches(db: Db, scope: Scope, query: Query, after: Place | undefined): Promise<Matches> {
  const exact = exactMatcher(query);
  const isEmpty = query.words.length === 0 && query.runs.length === 0;
  const found = isEmpty ? [] : await findCandidates(db, scope, { rest: query });
  const guess = found.length < enough ? guessOf(query) : undefined;
  const guessed = guess ? without(found, await findCandidates(db, scope, guess)) : [];
  const ranked = [
    ...rankCandidates(found, query, { hasSlip: false }),
    ...rankCandidates(guessed, query, { hasSlip: true }),
  ].toSorted((a, b) => comparePlaces(a.place, b.place));
  return {
    ranked: after ? ranked.filter(({ place }) => comparePlaces(place, after) > 0) : ranked,
    upTo: scope.upTo ?? lastOf([...found, ...guessed]),
    exact,
    slips: guess ? slipMatcher(guess.rest, guess.alternatives) : exact,
  };
}

function without(found: Candidate[], guessed: Candidate[]): Candidate[] {
  const known = new Set(found.map(({ kind, id }) => `${kind} ${id}`));
  return guessed.filter(({ kind, id }) => !known.has(`${kind} ${id}`));
}

function lastOf(found: Candidate[]): Record<SearchKind, number> {
  const last = (kind: SearchKind) => Math.max(0, ...found.filter((one) => one.kind === kind).map(({ id }) => id));
  return Object.fromEntries(kinds.map((kind) => [kind, last(kind)])) as Record<SearchKind, number>;
}
