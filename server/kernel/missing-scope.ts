import type { ApiError } from '../errors/api-error.ts';
import { SCOPE_REQUIRED } from '../errors/errors.ts';
import type { Scope } from '../platform/scopes.ts';

type Sets = readonly (readonly Scope[])[];

/** The error for a key that has none of the sets of scopes as a whole: it names them, and what the key lacks of the first. */
export function scopeMissing(sets: Sets, granted: readonly Scope[]): ApiError {
  return SCOPE_REQUIRED({
    detail: `This needs an API key with ${scopesInWords(sets)}; this key has ${listed(granted)}.`,
    missingScopes: sets[0]!.filter((scope) => !granted.includes(scope)),
  });
}

/** Sets of which one is needed, such as `the scopes time:read and admin, or read`. */
export function scopesInWords(sets: Sets, quote = ''): string {
  const words = sets.map((set) => listed(set.map((scope) => quote + scope + quote)));
  return `the scope${sets[0]!.length === 1 ? '' : 's'} ${words.join(', or ')}`;
}

/** `a`, `a and b`, `a, b and c`. */
function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`;
}
