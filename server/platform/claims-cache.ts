import type { RefreshClaims } from './tokens.ts';

type Genuine = { token: string; claims: RefreshClaims };

/** The entries of one half. */
const entriesMax = 10_000;

/**
 * Caches the claims of verified tokens, because verifying a signature costs more than the rest of a small read. An
 * entry is found by the last characters of the signature and compared with the whole token. An entry that was not read
 * while the younger half filled up is dropped.
 */
export function createClaimsCache() {
  let younger = new Map<string, Genuine>();
  let older = new Map<string, Genuine>();

  function store(end: string, genuine: Genuine): void {
    if (younger.size >= entriesMax) {
      older = younger;
      younger = new Map();
    }
    younger.set(end, genuine);
  }

  return {
    set: (token: string, claims: RefreshClaims) => store(endOf(token), { token, claims }),
    get(token: string): RefreshClaims | undefined {
      const end = endOf(token);
      let found = younger.get(end);
      if (!found) {
        found = older.get(end);
        if (found) store(end, found);
      }
      return found?.token === token ? found.claims : undefined;
    },
  };
}

/** V8 copies so short a substring; a longer one would reference the token and be slow to look up. */
const endOf = (token: string): string => token.slice(-12);
