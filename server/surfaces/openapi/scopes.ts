import type { Kind } from '../../kernel/definitions.ts';
import { scopesInWords } from '../../kernel/missing-scope.ts';
import { scopeKindOf, scopesOf, type OperationMeta } from '../../kernel/operation.ts';

/** What an API key needs to call an operation, as a sentence; undefined if `access` alone decides. */
export function keysInWords(meta: OperationMeta, type: Kind): string | undefined {
  if (meta.keys === undefined) return undefined;
  if (meta.keys === 'any key') return 'For API keys only, with any scope.';
  if (meta.keys === 'no key') return 'An API key may not call it.';
  return `An API key needs ${scopesInWords(scopesOf(meta, scopeKindOf(type)), '`')}.`;
}
