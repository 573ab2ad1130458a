import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Problems } from './use-form.ts';

/** Somebody else has changed in the meantime what a form is about to change. */
class Overtaken extends Error {
  override name = 'Overtaken';
  readonly theirs: readonly (readonly [field: string, value: unknown])[];

  constructor(theirs: Overtaken['theirs']) {
    super('Somebody else has changed this in the meantime. Save again to replace it.');
    this.theirs = theirs;
  }
}

/**
 * What a form holds of something that is stored: only what was changed is sent, and nobody's change is lost unseen.
 * `changes` compares with what is stored by now, and throws where somebody else has changed the same. The form goes on
 * from there: what is sent after that replaces it.
 */
export function useDraft<Values extends object>(
  stored: Values,
): {
  draft: Values;
  edit(patch: Partial<Values> | ((draft: Values) => Partial<Values>)): void;
  changes(latest: Values): Partial<Values>;
} {
  const [base, setBase] = useState(stored);
  const [draft, setDraft] = useState(stored);
  return {
    draft,
    edit: (patch) => setDraft((before) => ({ ...before, ...(typeof patch === 'function' ? patch(before) : patch) })),
    changes(latest) {
      const mine = differing(draft, base);
      const theirs = differing(latest, base).filter(
        (field) => mine.includes(field) && !isSame(latest[field], draft[field]),
      );
      const changes = Object.fromEntries(mine.map((field) => [field, draft[field]])) as Partial<Values>;
      setBase(latest);
      setDraft({ ...latest, ...changes });
      if (theirs.length > 0) throw new Overtaken(theirs.map((field) => [String(field), latest[field]]));
      return changes;
    },
  };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const differing = <Values extends object>(a: Values, b: Values): (keyof Values)[] =>
  (Object.keys(a) as (keyof Values)[]).filter((field) => !isSame(a[field], b[field]));

/** What somebody else has made of the fields, beside each of them; `inWords` says a value as people know it. */
export function theirsOf(
  error: unknown,
  names: Readonly<Record<string, string>>,
  inWords: (value: unknown, field: string) => ComponentChildren = (value) => String(value),
): Problems {
  if (!(error instanceof Overtaken)) return {};
  return Object.fromEntries(
    error.theirs.map(([field, value]) => [
      names[field] ?? field,
      <>Somebody has changed this in the meantime, to “{inWords(value, field)}”. Save again to replace it.</>,
    ]),
  );
}
